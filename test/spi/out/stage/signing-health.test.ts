/** What a process that sends tells of a signature service that is away, and of one that refuses. */
import { afterAll, expect, test } from 'bun:test'
import { sign } from 'node:crypto'
import { createLogger, createMetrics } from '#src/platform/observe/index.ts'
import { signingMaterial } from '#src/spi/out/signing/index.ts'
import { createCentralBank } from '../../../../src/simulators/central-bank/index.ts'
import { createOutboundMetrics } from '../../../../src/spi/out/stage/metrics.ts'
import { createSigning } from '../../../../src/spi/out/stage/signing.ts'
import { createTestDatabase } from '../../../support/database.ts'
import { issueCertificate } from '../../../support/pki.ts'
import { until } from '../../../support/until.ts'
import { interfaceClient } from '../../link/support.ts'
import { ispb, rigOn, runningOn, signingWith, unsignedSettings } from './support.ts'

const pair = issueCertificate('99999010')

const database = await createTestDatabase(6)
afterAll(() => database.close())

/** Signs by the contract, or answers what the test says. */
const startService = (
  refusal: () => number | undefined,
  certificate: () => string = () => pair.cert,
) =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.url.endsWith('/certificate')) return Response.json({ certificate: certificate() })
      const status = refusal()
      if (status !== undefined) return new Response('', { status })
      const { content } = (await request.json()) as { readonly content: string }
      const signature = sign('sha256', Buffer.from(content, 'base64'), pair.key)
      return Response.json({ signature: signature.toString('base64') })
    },
  })

test.each([
  ['takes requests keeps them: ready, and says so', true],
  ['only sends cannot do its work: not ready', false],
])('a process that %s', async (_, takesRequests) => {
  let refusal: number | undefined = 503
  const service = startService(() => refusal)
  const bank = await createCentralBank({ openingBalanceCents: 10n ** 12n })
  const client = interfaceClient({ PRIMARY: bank.url, SECONDARY: bank.secondaryUrl }, {}, ispb)
  const rig = await rigOn(database)
  const serviceUrl = service.url.href
  const signing = { ...unsignedSettings, enabled: true, serviceUrl }
  const stage = rig.outbound(client, { signing, takesRequests, requeueEveryMs: 100 })
  const health = async () => stage.health?.()
  await stage.start?.()
  // The certificate can be read: only a signature that is asked for tells.
  const before = (await rig.statuses())['SENT'] ?? 0
  await rig.pay(1)
  await until(async () => (await health())?.reason !== undefined)
  expect(await health()).toMatchObject({
    status: 'down',
    ready: takesRequests,
    reason: 'messages cannot be signed',
    detail: { signing: { reason: expect.stringContaining('gave no answer') } },
  })
  expect(JSON.stringify(await health())).not.toContain(String(service.port))
  refusal = undefined
  await rig.until('SENT', before + 1)
  await until(async () => (await health())?.status === 'ok')
  await stage.drain?.()
  await stage.stop?.()
  await rig.broker.stop()
  await bank.stop()
  await service.stop(true)
})

test('what is queued waits for a service whose certificate is none, and is sent when it is one', async () => {
  const faults = ['', 'none', pair.cert.slice(0, 400)]
  let asked = 0
  let isRight = false
  const service = startService(
    () => undefined,
    () => (isRight ? pair.cert : (faults[asked++ % faults.length] ?? '')),
  )
  const bank = await createCentralBank({ openingBalanceCents: 10n ** 12n })
  const client = interfaceClient({ PRIMARY: bank.url, SECONDARY: bank.secondaryUrl }, {}, ispb)
  const rig = await rigOn(database)
  const before = await rig.statuses()
  await rig.pay(1)
  await runningOn(rig)(
    async () => {
      // More often than a message of its own fault is tried.
      await until(async () => asked > 8 || ((await rig.statuses())['FAILED'] ?? 0) > 0)
      expect(await rig.statuses()).toEqual({ ...before, QUEUED: 1 })
      isRight = true
      await rig.until('SENT', (before['SENT'] ?? 0) + 1)
    },
    client,
    { signing: { ...unsignedSettings, enabled: true, serviceUrl: service.url.href } },
  )
  await rig.broker.stop()
  await bank.stop()
  await service.stop(true)
})

test('a service that is away is told before anybody asks it for a signature', async () => {
  const gone = startService(() => undefined)
  const serviceUrl = gone.url.href
  await gone.stop(true)
  const bank = await createCentralBank({})
  const client = interfaceClient({ PRIMARY: bank.url, SECONDARY: bank.secondaryUrl }, {}, ispb)
  const rig = await rigOn(database)
  const stage = rig.outbound(client, {
    signing: { ...unsignedSettings, enabled: true, serviceUrl },
  })
  await stage.start?.()
  await until(async () => (await stage.health?.())?.reason === 'messages cannot be signed')
  await stage.drain?.()
  await stage.stop?.()
  await rig.broker.stop()
  await bank.stop()
})

test('a message that cannot be signed by its own fault says nothing of signing', async () => {
  const settings = signingWith(pair)
  const own = signingMaterial(settings)
  const metrics = createOutboundMetrics(
    createMetrics({ version: 'test', withProcess: false }),
    async () => 0,
  )
  const lines: string[] = []
  const logger = createLogger({ level: 'info', sink: { write: (line) => lines.push(line) } })
  const signing = createSigning(settings, { own, service: undefined }, metrics, logger)
  await signing.start()
  const broken = { bytes: new Uint8Array(3) } as unknown as Parameters<typeof signing.sign>[0]
  for (let tries = 0; tries < 3; tries++) {
    await expect(signing.sign(broken)).rejects.toThrow()
    await Bun.sleep(20)
    expect(signing.problem()).toBeUndefined()
  }
  await signing.close()
  expect(lines).toEqual([])
})
