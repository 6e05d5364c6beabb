import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { anyVariant, type RunningProgram, root, startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

/*
 * deploy/compose/compose.yaml without containers: every service of the gateway's image is started here, with the command
 * and the environment that the file gives it, until its last service has made a payment on each rail. What else the
 * composition has is replaced by what a test has: PostgreSQL is the tests' own, and does what Kafka does there.
 */

setDefaultTimeout(120_000)

type Service = {
  readonly image: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}
const folder = join(root, 'deploy/compose')
const { services } = Bun.YAML.parse(await Bun.file(join(folder, 'compose.yaml')).text()) as {
  readonly services: Readonly<Record<string, Service>>
}

const database = await createTestDatabase(1)
const running: RunningProgram[] = []
afterAll(async () => {
  for (const program of running) program.signal('SIGTERM')
  await Promise.all(running.map((program) => program.end()))
  await database.close()
})

const state = temporaryDirectory()
const ports = new Map<string, number>()
/** The port of this machine for one of a service. */
const portOf = (service: string, port: string): string => {
  const name = `${service}:${port}`
  const found = ports.get(name) ?? freePort()
  ports.set(name, found)
  return String(found)
}

/** Words of a service as they are on one machine: names of services are its loopback, ports those that are free. */
const here = (service: string, text: string): string =>
  text
    .replaceAll('/var/lib/trilho', state)
    .replace('0.0.0.0', '127.0.0.1')
    .replace(/^postgres:\/\/.*/, database.dsn)
    .replace(/^:(\d+)$/, (_all, port: string) => `127.0.0.1:${portOf(service, port)}`)
    .replace(/\/\/([a-z-]+):(\d+)/, (_all, name: string, port: string) =>
      name in services ? `//127.0.0.1:${portOf(name, port)}` : _all,
    )

/** The environment without Kafka and the collector, which are not here. */
const environmentOf = (service: string): Record<string, string> => {
  const { BROKER_ADDRESSES, OTEL_EXPORTER_OTLP_ENDPOINT, ...rest } =
    services[service]?.environment ?? {}
  const env = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, here(service, value)]),
  )
  if (env['CARDGW_NETA_HOST'] !== undefined) {
    env['CARDGW_NETA_HOST'] = '127.0.0.1'
    env['CARDGW_NETA_PORT'] = portOf('card-network', rest['CARDGW_NETA_PORT'] ?? '')
    // By default that of HTTP_ADDR, which is another one here.
    env['CARDGW_PORT'] = portOf(service, '8080')
  }
  return env
}

const start = (service: string): void => {
  const words = (services[service]?.command ?? []).map((word) =>
    /^\d{4,5}$/.test(word) ? portOf(service, word) : here(service, word),
  )
  running.push(startProgram(anyVariant, words, { env: environmentOf(service) }))
}

/** A shell with the program on its path, as the image has it. */
const shell = async (words: readonly string[], env: Readonly<Record<string, string>>) => {
  const program = anyVariant.command().map((word) => `'${word}'`)
  writeFileSync(join(state, 'trilho'), `#!/bin/sh\nexec ${program.join(' ')} "$@"\n`, {
    mode: 0o755,
  })
  const child = Bun.spawn(['sh', ...words], {
    env: { ...env, PATH: `${state}:${process.env['PATH'] ?? ''}` },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, out, err }
}

const ofImage = Object.keys(services).filter((name) => services[name]?.image.startsWith('trilho:'))
const simulators = ofImage.filter((name) => services[name]?.command?.[0] === 'sim')
const gateways = ofImage.filter((name) => services[name]?.command?.[0] === 'serve')

test('ends with a payment on each rail', async () => {
  expect([simulators.length, gateways.length]).toEqual([3, 3])
  for (const service of simulators) start(service)
  const [script = ''] = services['prepare']?.command ?? []
  const prepared = await shell(['-ec', here('prepare', script)], environmentOf('prepare'))
  expect(prepared).toMatchObject({ code: 0 })
  for (const service of gateways) start(service)
  const isReady = async (service: string): Promise<boolean> => {
    const url = `http://127.0.0.1:${portOf(service, '9100')}/ready`
    return (await fetch(url).catch(() => undefined))?.ok === true
  }
  for (const service of gateways) await until(() => isReady(service), 60_000, `${service} is ready`)

  const { URL: url = '', KEY_FILE: file = '' } = services['payments']?.environment ?? {}
  const env = { URL: here('payments', url), KEY_FILE: here('payments', file) }
  const { code, out, err } = await shell([join(folder, 'payments.sh')], env)
  expect({ code, err, out }).toMatchObject({ code: 0, err: '' })
  for (const part of ['"status":"ACCEPTED"', '"status":"authorized"', '"status":"confirmed"']) {
    expect(out).toContain(part)
  }
  expect(out.trimEnd()).toEndWith('A payment was made on each rail.')
})
