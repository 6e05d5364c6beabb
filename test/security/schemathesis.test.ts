import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noPythonTools, pythonTools } from '../support/python-tools.ts'
import { type RunningDev, startDev } from '../support/running-dev.ts'
import { seed } from '../support/seed.ts'
import { hasSharedData, sharedDataPath, skipReason } from '../support/shared-data.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { rows } from './routes.ts'

/*
 * Schemathesis makes requests from the published document, right ones and wrong ones, and judges the answers by it.
 * Some it draws by chance, others with each commit: a second run of the file must find again what the first found.
 * `TRILHO_LONG=1` lets it look for ten minutes from a seed that is new each time, sequences of calls too.
 */

const isLong = process.env['TRILHO_LONG'] === '1'
const longSeconds = 600

setDefaultTimeout(isLong ? (longSeconds + 120) * 1000 : 300_000)

type Json = Record<string, unknown>

/** Its example is a charge on the server of another institution, which no machine of a test reaches. */
const resolvesOutside = '/v1/pix/qrcode/resolve'

/** One of so many paths is drawn for: commit after commit each has its turn. The long lane draws for all of them. */
const drawnEvery = isLong ? 1 : 3

/**
 * What covers the schemas is asked of every path; what is drawn beside it costs ten times as much a request, and is
 * drawn for some of them.
 */
const undrawnOf = (document: Json): readonly string[] => [
  resolvesOutside,
  ...Object.keys(document['paths'] as Json).filter(
    (path, index) => path !== resolvesOutside && (index + seed) % drawnEvery !== 0,
  ),
]

/** 413 refuses as well as 400 does. Of 400 to a request that fits the schema, the check below judges the code. */
const configurationOf = (undrawn: readonly string[]): string => `
hooks = "hooks.py"
[checks]
positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "403", "404", "409", "422"]
negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "409", "413", "415", "422"]
${undrawn.map((path) => `[[operations]]\ninclude-path = "${path}"\nphases.fuzzing.enabled = false\n`).join('')}`

/** What fits the published schema may be refused for its value, and never for its form. */
const hooks = `
import schemathesis

@schemathesis.check
def form_is_as_published(ctx, response, case):
    if response.status_code != 400 or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    # A value that was taken from an answer, where it may be null, is not of the form that the document demands.
    if any(str(value) in ("None", "null") for value in (case.path_parameters or {}).values()):
        return
    body = response.json()
    code = body["error"]["code"] if "error" in body else body["code"]
    assert code.lower() != "validation_failed", f"fits the schema and is refused by it: {body}"
`

/**
 * It looks twice with each request for proxies among all variables, and makes its tables of Unicode's characters anew
 * where it cannot keep them: a tenth of its processor time. What it drew it keeps nowhere.
 */
const plainEnvironment = {
  PATH: process.env['PATH'] ?? '',
  NO_PROXY: '*',
  HYPOTHESIS_STORAGE_DIRECTORY: temporaryDirectory(),
}

const ofDrex = '^/v1/(drex|wallets|contracts)'
const ofCards = '^/v1/(transactions|webhook|certificates|jose)'
const ofCharges = '^/v1/(pix|dict)'
/** Each ends well before the runner takes silence for a standstill. */
const parts: readonly (readonly [string, ...string[]])[] = isLong
  ? [['all of it', '--exclude-path', resolvesOutside]]
  : [
      ['digital currency', '--include-path-regex', ofDrex],
      ['cards, webhooks, keys', '--include-path-regex', ofCards],
      ['charges, directory of keys', '--include-path-regex', ofCharges],
      ['the rest', '--exclude-path-regex', `${ofDrex}|${ofCards}|${ofCharges}`],
    ]

/**
 * The limits of longer texts with a pattern are not tried: the runner draws them letter by letter, 18 of 69 seconds of
 * its processor for 29 of 11 700 requests. The one type of text is tried at its limit and one past it by its own test.
 */
const patternCharactersMax = 150

const each = (value: unknown, visit: (object: Json) => void): void => {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) visit(value as Json)
  for (const inner of Object.values(value)) each(inner, visit)
}

/** The published document, so that it is tried at the cost of what it finds. */
const publishedBy = async (url: string): Promise<Json> => {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Json
  each(document, (schema) => {
    const { pattern, maxLength } = schema
    if (typeof pattern === 'string' && Number(maxLength) > patternCharactersMax) {
      delete schema['maxLength']
    }
  })
  // No drawn cursor is one of ours: beside it, what else a list is asked for would never be answered. They are tried below.
  each(document['paths'], (operation) => {
    const { parameters } = operation as { readonly parameters?: readonly Json[] }
    if (Array.isArray(parameters)) {
      operation['parameters'] = parameters.filter(({ name }) => name !== 'cursor')
    }
  })
  const operation = (document['paths'] as Record<string, Json>)[resolvesOutside]
  if (operation === undefined) throw new Error('the document has no such operation')
  each(operation, (media) => delete media['examples'])
  return document
}

/** What is served of the API Pix, as the central bank's description calls it. */
const pathsOfPix = Object.keys(rows).flatMap((name) => name.match(/(?<= \/pix\/v2)\/.+/)?.[0] ?? [])

/** The part of that description that this gateway serves, without its contradictions. */
const standardOf = async (): Promise<Json> => {
  const text = await Bun.file(sharedDataPath('pix-api/openapi.yaml')).text()
  const document = Bun.YAML.parse(text) as Record<'paths' | 'components', Record<string, Json>>
  const { paths, components } = document
  document.paths = Object.fromEntries(pathsOfPix.map((path) => [path, paths[path] ?? {}]))
  // It describes the problem of a refused query, and names it at no operation.
  each(document.paths, ({ responses }) => {
    if (responses !== undefined) (responses as Json)['400'] ??= { description: 'refused' }
  })
  each([document.paths, components], (schema) => {
    // Its own examples of a location have no scheme, so they are no URI.
    if (schema['format'] === 'uri') delete schema['format']
    // A list of received Pix that must have the member of another list.
    if (schema['title'] === 'Pix Consultados') schema['required'] = ['parametros']
    // Nowhere does it say what this member of each charge in a list may be.
    const { required } = schema
    if (Array.isArray(required) && required.includes('idCob'))
      schema['required'] = ['status', 'txid']
    // Alternatives that tell themselves apart by a member, which none of them requires.
    for (const branch of (schema['oneOf'] ?? []) as readonly Json[]) {
      const members = Object.keys(branch['properties'] ?? {})
      if (members.length === 1) branch['required'] ??= members
    }
    // It says of a short txid that it is a long one, too.
    const { allOf } = schema as { readonly allOf?: readonly Json[] }
    const [first, second] = allOf ?? []
    if (first?.['$ref'] === '#/components/schemas/TxId' && second?.['pattern'] !== undefined) {
      schema['allOf'] = [second]
    }
  })
  return document
}

describe.skipIf(pythonTools === undefined)(`Schemathesis${noPythonTools}`, () => {
  let dev: RunningDev

  beforeAll(async () => {
    dev = await startDev()
  })

  afterAll(async () => {
    await dev[Symbol.asyncDispose]()
  })

  const expectNothing = async (document: Json, base: string, more: readonly string[]) => {
    const directory = temporaryDirectory()
    const [config, schema] = [join(directory, 'schemathesis.toml'), join(directory, 'openapi.json')]
    writeFileSync(config, configurationOf(undrawnOf(document)))
    writeFileSync(join(directory, 'hooks.py'), hooks)
    writeFileSync(schema, JSON.stringify(document))
    // Without a limit of time: what it looks at must not depend on the speed of the machine.
    const extent = isLong
      ? ['--max-time', String(longSeconds)]
      : ['--seed', String(seed), '--phases', 'examples,coverage,fuzzing', '--max-examples', '3']
    const child = Bun.spawn(
      [
        join(pythonTools!, 'schemathesis'),
        '--config-file',
        config,
        '--no-color',
        'run',
        schema,
        '--url',
        base,
        ...['--header', `Authorization: Bearer ${dev.key}`, '--continue-on-failure'],
        '--workers',
        '1',
        '--no-shrink',
        ...['--generation-database', 'none'],
        '--request-timeout',
        '30',
        ...extent,
        ...more,
      ],
      { cwd: directory, env: plainEnvironment, stdout: 'pipe', stderr: 'pipe' },
    )
    const [out, errors, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    const found = out.includes('= FAILURES =') ? out.slice(out.indexOf('= FAILURES =')) : ''
    // Its summary names the seed.
    const told = code === 0 ? '' : (/^.*Seed:.*$/m.exec(out)?.[0] ?? '')
    expect({ code, found, errors, told }).toEqual({ code: 0, found: '', errors: '', told: '' })
    expect(out).toContain('Tested: ')
  }

  test.each(parts)('finds nothing: %s', async (_, ...which) => {
    await expectNothing(await publishedBy(dev.url), dev.url, which)
  })

  test('no list falls over a cursor that it did not give', async () => {
    const { paths } = (await (await fetch(`${dev.url}/openapi.json`)).json()) as {
      readonly paths: Record<string, { get?: { parameters?: readonly { name: string }[] } }>
    }
    const lists = Object.keys(paths).filter((path) =>
      paths[path]?.get?.parameters?.some(({ name }) => name === 'cursor'),
    )
    expect(lists.length).toBeGreaterThan(10)
    // What is inside may by chance be of the form of ours.
    const inside = ['0', '-1', '{}', '[null]', 'a|b', '\0', "'--", '9'.repeat(40)]
    const formed = inside.map((text) => Buffer.from(text).toString('base64url'))
    for (const list of lists) {
      for (const cursor of ['', '0', '\u00d7\u00f8\u009b', 'A'.repeat(2_000), ...formed]) {
        const path = `${list.replaceAll(/\{\w+\}/g, '0')}?cursor=${encodeURIComponent(cursor)}`
        const { status } = await dev.call('GET', path)
        const may = [
          400,
          ...(formed.includes(cursor) ? [200] : []),
          ...(list.includes('{') ? [404] : []),
        ]
        expect({ path, status, is: may.includes(status) }).toEqual({ path, status, is: true })
      }
    }
  })

  test.skipIf(!hasSharedData)(`finds nothing: the API Pix${skipReason}`, async () => {
    const document = await standardOf()
    const checks = ['not_a_server_error', 'status_code_conformance', 'content_type_conformance']
    await expectNothing(document, `${dev.url}/pix/v2`, [
      '--checks',
      [...checks, 'response_schema_conformance'].join(),
    ])
  })
})
