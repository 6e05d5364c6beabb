import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { dialects, type Framing, formatOriginalData, framings } from '#codecs/iso8583'
import { createNetwork } from '../../src/cards/networks/index.ts'
import { createCardNetwork, testPan } from '../../src/simulators/card-network/index.ts'
import { networkOptions, payment, stanOf, until } from '../support/card-network.ts'
import { unlessMissing } from '../support/second-implementation.ts'
import { temporaryDirectory } from '../support/temporary.ts'

setDefaultTimeout(180_000)

const folder = join(import.meta.dir, 'java/jpos')

/** Where jPOS lies on this machine, as Maven knows or fetches it. */
const classpath = async (): Promise<string | undefined> => {
  if (unlessMissing('java').missing || unlessMissing('mvn').missing) return undefined
  const file = join(temporaryDirectory(), 'classpath')
  const resolve = (options: readonly string[]): boolean =>
    Bun.spawnSync(
      [
        ...['mvn', '-q', '-B', ...options, '-f', join(folder, 'pom.xml')],
        ...['dependency:build-classpath', `-Dmdep.outputFile=${file}`],
      ],
      { timeout: 60_000 },
    ).exitCode === 0
  return resolve(['-o']) || resolve([]) ? Bun.file(file).text() : undefined
}

const jars = await classpath()
const note = jars === undefined ? ' [skipped: no java, no mvn or no jPOS to be had]' : ''

const profiles: Readonly<Record<string, Framing>> = {
  ascii: framings['binary-2'],
  bcd: framings['binary-2-tpdu'],
  'ascii-hex': framings['ascii-4'],
}

const command = (...args: readonly string[]): string[] => [
  ...['java', '-XX:TieredStopAtLevel=1', '-cp', jars ?? '', join(folder, 'JposPeer.java'), ...args],
]

describe.skipIf(jars === undefined)(`jPOS as the network${note}`, () => {
  const ports = new Map<string, number>()
  let output = ''
  let server: Bun.Subprocess<'ignore', 'pipe', 'ignore'> | undefined

  beforeAll(async () => {
    server = Bun.spawn(command('server'), { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' })
    const reader = server.stdout.pipeThrough(new TextDecoderStream()).getReader()
    const read = async (): Promise<void> => {
      const { value, done } = await reader.read()
      output += value ?? ''
      if (!done) await read()
    }
    read().catch((error: unknown) => {
      output += String(error)
    })
    const deadline = performance.now() + 60_000
    while (output.split('\n').length <= 3 && performance.now() < deadline) await Bun.sleep(50)
    for (const line of output.trim().split('\n')) {
      const [profile = '', port] = line.split(' ')
      ports.set(profile, Number(port))
    }
  })

  afterAll(() => server?.kill())

  test.each(Object.entries(profiles))('takes our messages: %s', async (profile, framing) => {
    const network = createNetwork(
      networkOptions(ports.get(profile) ?? 1, {
        dialect: dialects[profile]!,
        framing,
        poolSize: 2,
        signOn: true,
        echoMs: 300,
        reconnect: { baseMs: 200, maxMs: 500 },
      }),
    )
    network.start()
    await until(() => network.health().connectionsUp === 2, 'the sign-on')
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, index) => {
        const amount = String((index + 1) * 100).padStart(12, '0')
        return network.exchange(payment(index + 1, { amount }), 10_000)
      }),
    )
    const codes = outcomes.map((one) =>
      one.kind === 'answered' ? [one.response.responseCode, one.response.amount] : [one.kind],
    )
    expect(codes).toEqual(
      outcomes.map((_, index) => [
        index === 50 ? '51' : '00',
        String((index + 1) * 100).padStart(12, '0'),
      ]),
    )
    const [first] = outcomes
    expect(first?.kind === 'answered' && first.response.authCode).toBe('A1B2C3')
    const originalData = formatOriginalData({
      ...{ mti: '0100', stan: stanOf(1), transmissionDateTime: '1120120000' },
      ...{ acquirerId: '', forwarderId: '' },
    })
    for (const mti of ['0400', '0401'] as const) {
      const reversed = await network.exchange(payment(1, { originalData }, mti), 10_000)
      expect(reversed.kind === 'answered' && reversed.response.mti).toBe('0410')
      expect(reversed.kind === 'answered' && reversed.response.responseCode).toBe('00')
    }
    await until(() => network.health().lastEchoAt !== undefined, 'the echo test')
    expect(network.health().connectionsUp).toBe(2)
    await network.stop()
    await until(() => output.split(`${profile} got 0810 301 00`).length === 3, 'both 0810')
    expect(output).not.toContain(`${profile} failed`)
  })
})

describe.skipIf(jars === undefined)(`jPOS as the gateway${note}`, () => {
  test.each(Object.entries(profiles))(
    'takes the simulated network: %s',
    async (profile, framing) => {
      const simulator = createCardNetwork({
        dialect: dialects[profile]!,
        framing,
        needsSignOn: true,
      })
      simulator.start()
      const declined = testPan('visa', { name: 'decline', argument: 51 })
      expect(Buffer.from(declined).toString()).toBe('4000000151000009')
      const client = Bun.spawn(command('client', profile, '127.0.0.1', String(simulator.port())), {
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [out, err] = await Promise.all([
        new Response(client.stdout).text(),
        new Response(client.stderr).text(),
      ])
      if ((await client.exited) !== 0) throw new Error(err)
      const lines = out.trim().split('\n')
      simulator.stop()
      const payments = Array.from({ length: 20 }, (_, index) => {
        const number = index + 1
        return `0110 ${stanOf(number)} 00 ${String(number * 100).padStart(12, '0')}`
      })
      expect(lines).toEqual([
        '0810 000001 00 null',
        '0810 000301 00 null',
        ...payments,
        '0110 000021 51 000000002100',
        '0410 000022 00 000000002200',
        '0410 000022 00 000000002200',
        '0810 000002 00 null',
      ])
      const reversed = simulator.book().filter(({ reversedAmount }) => reversedAmount > 0)
      expect(reversed.map(({ stan, reversals }) => [stan, reversals])).toEqual([[stanOf(7), 2]])
    },
  )
})
