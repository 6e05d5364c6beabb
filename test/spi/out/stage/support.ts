import { createPostgresBroker, type TransactionalBroker } from '#src/platform/broker/index.ts'
import { loadSettings } from '#src/platform/config/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import type { InterfaceClient } from '#src/spi/link/index.ts'
import { createSend } from '#src/spi/out/send/index.ts'
import { signingMaterial, signingSettings } from '#src/spi/out/signing/index.ts'
import {
  createOutbound,
  type OutboundDeps,
  type OutboundFeature,
} from '#src/spi/out/stage/index.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { quietLogger, type TestDatabase } from '../../../support/database.ts'
import { transfer } from '../../../support/participant.ts'

export const ispb = '12345678'
export const accepting = '99999A04'

export const unsignedSettings: OutboundDeps['signing'] = {
  enabled: false,
  certificate: undefined,
  key: undefined,
  provider: 'auto',
  serviceUrl: undefined,
  serviceTimeoutMs: 1_000,
  serviceAttemptsMax: 1,
  serviceCertificate: undefined,
  serviceKey: undefined,
  serviceCa: undefined,
} as OutboundDeps['signing']

export type Rig = {
  readonly broker: TransactionalBroker
  /** A stage of its own, as another process would run it. */
  readonly outbound: (client: InterfaceClient, more?: Partial<OutboundDeps>) => OutboundFeature
  /** Queues so many payments; their EndToEndIds. */
  readonly pay: (
    count: number,
    more?: object,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<readonly string[]>
  readonly statuses: () => Promise<Readonly<Record<string, number>>>
  /** Waits until so many messages have the status. */
  readonly until: (status: string, count: number) => Promise<void>
}

export const rigOn = async (
  database: TestDatabase,
  wrap: (broker: TransactionalBroker) => TransactionalBroker = (broker) => broker,
): Promise<Rig> => {
  const { sql, dsn } = database
  const logger = { ...quietLogger, error: () => {}, warn: () => {} }
  const openBroker = (): TransactionalBroker => wrap(createPostgresBroker({ sql, dsn, logger }))
  const broker = openBroker()
  await broker.start()
  const { key, record } = testKey('spi:send')
  const send = createSend({ ispb, sql, broker, revision: '5.11.1', logger })
  const { call } = testApp(send.routes ?? [], { keys: [record] })

  const statuses = async () => {
    const rows = await sql<{ status: string; count: number }[]>`
      select status, count(*)::int as count from spi_messages
      where direction = 'OUTBOUND' group by status`
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
  }
  return {
    broker,
    statuses,
    outbound: (client, more = {}) => {
      const own = openBroker()
      const feature = createOutbound({
        sql,
        broker: own,
        client,
        settings: {
          requestsMax: 4,
          channelFailover: true,
          settlementLimitSeconds: 60,
          scheduledLimitSeconds: 2_760,
          syncTimeoutSeconds: 5,
        },
        signing: unsignedSettings,
        emitEvents,
        logger,
        metrics: createMetrics({ version: 'test', withProcess: false }),
        ...more,
        signingMaterial: signingMaterial(more.signing ?? unsignedSettings),
      })
      const stop = async (): Promise<void> => {
        await feature.stop?.()
        await own.stop()
      }
      return { ...feature, stop }
    },
    pay: (count, more = {}, headers = {}) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const body = {
            message_type: 'PACS008',
            params: { local_instrument: 'MANU', transactions: [transfer(ispb, accepting, 100)] },
            ...more,
          }
          const response = await call('POST', '/v1/spi/send', { key, body, headers })
          const answer = (await response.json()) as { readonly end_to_end_ids: readonly string[] }
          if (response.status !== 202) throw new Error(JSON.stringify(answer))
          return answer.end_to_end_ids[0] ?? ''
        }),
      ),
    until: async (status, count) => {
      const end = performance.now() + 40_000
      for (;;) {
        const found = await statuses()
        if ((found[status] ?? 0) >= count) return
        if (performance.now() > end) throw new Error(JSON.stringify(found))
        await Bun.sleep(20)
      }
    },
  }
}

/** Runs a stage until `work` is done. */
export const runningOn =
  (rig: Rig) =>
  async (work: () => Promise<void>, ...parts: Parameters<Rig['outbound']>): Promise<void> => {
    const stage = rig.outbound(...parts)
    await stage.start?.()
    try {
      await work()
    } finally {
      await stage.drain?.()
      await stage.stop?.()
    }
  }

export const signingWith = ({
  cert,
  key,
}: {
  readonly cert: string
  readonly key: string
}): OutboundDeps['signing'] =>
  loadSettings(
    { signing: signingSettings },
    {
      SPI_SIGN_ENABLED: 'true',
      SPI_SIGN_CERT_BASE64: btoa(cert),
      SPI_SIGN_KEY_BASE64: btoa(key),
      SPI_SIGN_PROVIDER: 'node',
    },
  ).values.signing
