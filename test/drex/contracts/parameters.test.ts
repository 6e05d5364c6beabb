import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ApiError } from '#src/platform/http/index.ts'
import { readAbi } from '../../../src/drex/contracts/abi.ts'
import { loadTemplate, type Place, templateNames } from '../../../src/drex/templates/index.ts'

const address = `0x${'a1'.repeat(20)}` as const

const place: Place = {
  deployer: address,
  token: address,
  unitsOf: async (_, amount) => BigInt(amount.replace('.', '')),
}

/** Good values, of some template's field at least. */
const good = {
  name: 'Token',
  symbol: 'TKN',
  total_supply: '10',
  decimals: 2,
  cap: '20.5',
  total_units: '100',
  amount: '10.00',
  face_value: '10.00',
  request_max: '10.00',
  payer: address,
  payee: address,
  arbiter: address,
  owner: address,
  beneficiary: address,
  bond: address,
  reserve: address,
  participant: 'Banco',
  cnpj8: '12345678',
  deadline: '2099-01-01T00:00:00Z',
  expiry: '2099-01-01T00:00:00Z',
  issue_date: '2026-01-01',
  due_date: '2099-01-01',
}

const strange = fc.oneof(
  fc.constantFrom<unknown>(
    ...['1e5', ' 10 ', 'abc', '1,5', '٣', '', '-1', '1.', '.5', '0x10', '1_0', '9'.repeat(400)],
    ...[
      '2026-02-31',
      '1969-12-31',
      '1969-12-31T23:59:59Z',
      '+275760-09-13T00:00:00Z',
      '\0',
      '\ud800',
      'é'.repeat(31),
    ],
    ...[null, -1, 1.5, 1e300, true, [], {}, [null], ['a', 'a'], [{}]],
  ),
  fc.string(),
  fc.jsonValue(),
)

test.each(templateNames)('%s: whatever its parameters, they are taken or named', async (name) => {
  const template = await loadTemplate(name)
  const abi = await readAbi((await template.artifact()).default.abi)
  const { properties } = (await import('zod')).z.toJSONSchema(template.params, { io: 'input' })
  const fields = Object.keys(properties ?? {})
  const own = Object.fromEntries(Object.entries(good).filter(([field]) => fields.includes(field)))
  const tried = fc.dictionary(fc.constantFrom(...fields), strange, { maxKeys: 3 })
  await fc.assert(
    fc.asyncProperty(tried, async (changes) => {
      try {
        abi.encodeDeploy(await template.constructorArguments({ ...own, ...changes }, place))
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        expect(error.definition.status).toBe(400)
      }
    }),
    { numRuns: 400 },
  )
})

test('a day before 1970 is refused: the chain has no such moment', async () => {
  const template = await loadTemplate('receivables')
  const { name, symbol, payer, face_value, due_date } = good
  const params = { name, symbol, payer, face_value, due_date }
  const asked = (issue_date: string) =>
    template.constructorArguments({ ...params, issue_date }, place)
  await expect(asked('1969-12-31')).rejects.toBeInstanceOf(ApiError)
  expect(await asked('1970-01-01')).toMatchObject([{ issueDate: 0 }])
})

test('a quantity finer than the asset is refused, and never taken for nothing', async () => {
  for (const [name, field] of [
    ['tokenized_asset', 'total_supply'],
    ['tokenized_asset', 'cap'],
    ['real_estate', 'total_units'],
  ] as const) {
    const template = await loadTemplate(name)
    const fields = { name: 'A', symbol: 'A', total_supply: '1', total_units: '1', decimals: 0 }
    const { [name === 'real_estate' ? 'total_supply' : 'total_units']: _, ...own } = fields
    for (const [value, message] of [
      ['1.5', 'has more than 0 fraction digits'],
      ['1e5', 'must be a decimal number'],
    ] as const) {
      const refused = template.constructorArguments({ ...own, [field]: value }, place)
      const error = await refused.then(
        () => undefined,
        (error: ApiError) => error,
      )
      expect([name, error?.errors]).toMatchObject([
        name,
        [{ pointer: `/params/${field}`, message }],
      ])
    }
  }
})
