import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noPythonTools, pythonTools } from '../support/python-tools.ts'
import { type RunningDev, startDev } from '../support/running-dev.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/*
 * Schemathesis makes requests from the published document, right ones and wrong ones, and judges the answers by it.
 * `TRILHO_LONG=1` lets it look for ten minutes from a seed that is new each time, sequences of calls too.
 */

const isLong = process.env['TRILHO_LONG'] === '1'
const longSeconds = 600

setDefaultTimeout(isLong ? (longSeconds + 120) * 1000 : 300_000)

/** 413 refuses as well as 400 does. Of 400 to a request that fits the schema, the check below judges the code. */
const configuration = `
hooks = "hooks.py"
[checks]
positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "403", "404", "409", "422"]
negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "409", "413", "415", "422"]
`

/** What fits the published schema may be refused for its value, and never for its form. */
const hooks = `
import schemathesis

@schemathesis.check
def form_is_as_published(ctx, response, case):
    if response.status_code != 400 or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    body = response.json()
    code = body["error"]["code"] if "error" in body else body["code"]
    assert code.lower() != "validation_failed", f"fits the schema and is refused by it: {body}"
`

const ofDrex = '^/v1/(drex|wallets|contracts)'
const ofCards = '^/v1/(transactions|webhook|certificates|jose)'
/** It asks a server of another institution, which no machine of a test reaches. */
const ofOthers = '^/v1/pix/qrcode/resolve'
/** Each ends well before the runner takes silence for a standstill. */
const parts: readonly (readonly [string, ...string[]])[] = isLong
  ? [['all of it']]
  : [
      ['digital currency', '--include-path-regex', ofDrex],
      ['cards, webhooks, keys', '--include-path-regex', ofCards],
      ['the rest', '--exclude-path-regex', `${ofDrex}|${ofCards}|${ofOthers}`],
    ]

describe.skipIf(pythonTools === undefined)(`Schemathesis${noPythonTools}`, () => {
  let dev: RunningDev

  beforeAll(async () => {
    dev = await startDev()
  })

  afterAll(async () => {
    await dev[Symbol.asyncDispose]()
  })

  test.each(parts)('finds nothing: %s', async (_, ...which) => {
    const directory = temporaryDirectory()
    const file = join(directory, 'schemathesis.toml')
    writeFileSync(file, configuration)
    writeFileSync(join(directory, 'hooks.py'), hooks)
    // Without a limit of time: what it looks at must not depend on the speed of the machine.
    const extent = isLong
      ? ['--max-time', String(longSeconds)]
      : ['--seed', '1', '--phases', 'examples,coverage', '--max-examples', '3', ...which]
    const child = Bun.spawn(
      [
        join(pythonTools!, 'schemathesis'),
        ...['--config-file', file, '--no-color', 'run', `${dev.url}/openapi.json`],
        ...['--header', `Authorization: Bearer ${dev.key}`, '--continue-on-failure'],
        ...['--workers', '1', '--no-shrink', '--request-timeout', '30', ...extent],
      ],
      { cwd: directory, stdout: 'pipe', stderr: 'pipe' },
    )
    const [out, errors, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    const found = out.includes('= FAILURES =') ? out.slice(out.indexOf('= FAILURES =')) : ''
    expect({ code, found, errors }).toEqual({ code: 0, found: '', errors: '' })
    expect(out).toContain('Tested: ')
  })
})
