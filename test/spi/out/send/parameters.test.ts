import { expect, test } from 'bun:test'
import {
  type BuildableMessage,
  buildableMessages,
  buildMessage,
  createRandomText,
} from '#codecs/iso20022'
import { openApiDocument } from '#src/platform/http/index.ts'
import { sendExamples } from '../../../../src/spi/out/send/examples.ts'
import { sendParameters } from '../../../../src/spi/out/send/parameters.ts'
import { sendRoutes } from '../../../../src/spi/out/send/routes.ts'

const uncalled = () => Promise.reject(new Error('not called'))

const random = createRandomText((bytes) => crypto.getRandomValues(bytes))

/** An object that tells which of its fields are read, and those of the objects within it. */
const observed = (value: unknown, path: string, read: (path: string) => void): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => observed(item, `${path}[]`, read))
  const within = path === '' ? '' : `${path}.`
  return new Proxy(value, {
    get: (target, key) => {
      if (typeof key !== 'string') return Reflect.get(target, key)
      read(within + key)
      return observed(Reflect.get(target, key), within + key, read)
    },
  })
}

type Example = {
  readonly message_type: BuildableMessage
  readonly version?: string
  readonly params: object
}

/** What the builder of a message reads of its examples, and of these. */
const readOf = (name: BuildableMessage, more: readonly object[]): readonly string[] => {
  const paths = new Set<string>()
  const examples = (Object.values(sendExamples) as readonly Example[])
    .filter(({ message_type }) => message_type === name)
    .map(({ params }) => params)
  for (const params of [...examples, ...more]) {
    buildMessage(
      name,
      observed(params, '', (path) => paths.add(path)),
      {
        ispb: '12345678',
        nowMs: 0,
        random,
        revision: '5.11.1',
      },
    )
  }
  return [...paths].sort()
}

const parties = {
  debtor: {},
  creditor: {},
  tax: {},
  purpose: 'GSCB',
  withdrawal: {},
  counterparty: {},
}

const nested: Partial<Record<BuildableMessage, readonly object[]>> = {
  PACS002: [{ reasons: [{}] }],
  CAMT054: [parties, { notifications: [parties] }],
  PAIN013: [{ charges: [{ ultimate_debtor: {}, tax: {} }] }],
}

test.each(buildableMessages)('%s: the parameters documented are those that are read', (name) => {
  const documented = sendParameters[name].map(([path]) => path)
  expect([...documented].sort()).toEqual([...readOf(name, nested[name] ?? [])])
  expect(new Set(documented).size).toBe(documented.length)
})

test('what is needed always is refused when it is missing, what is not needed is not', () => {
  for (const name of buildableMessages) {
    const problems = (params: object) => {
      const build = buildMessage(name, params, {
        ispb: '12345678',
        nowMs: 0,
        random,
        revision: '5.11.1',
      })
      return build.ok
        ? []
        : build.problems.filter(({ rule }) => rule === 'required').map(({ pointer }) => pointer)
    }
    const top = sendParameters[name].filter(([path]) => !/[.[]/.test(path))
    const required = top.filter(([, need]) => need === 'yes').map(([path]) => `/${path}`)
    const refused = problems({})
    expect([name, refused.sort()]).toEqual([name, required.sort()])
  }
})

test('the API’s document has them', async () => {
  const routes = sendRoutes({ build: uncalled, send: uncalled })
  const document = JSON.stringify(await openApiDocument(routes, 'test'))
  for (const name of buildableMessages) expect(document).toContain(`#### ${name}`)
  expect(document).toContain('transactions[].withdrawal.purchase_amount')
})
