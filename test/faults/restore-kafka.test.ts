/** A restore with Kafka as docs/operation.md has it: the copy is older than what Kafka's groups have read. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { Admin } from '@platformatic/kafka'
import { type Database, openDatabase } from '#src/platform/database/index.ts'
import { createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { apiKeyFile } from '../support/api-key.ts'
import { copyOf, noCopies, restoreInto, startCluster } from '../support/copies.ts'
import { quietLogger } from '../support/database.ts'
import { isKafkaHere, startTestKafka } from '../support/kafka.ts'
import { isLong } from '../support/page-budgets.ts'
import { transfer } from '../support/participant.ts'
import { anyVariant, type RunningProgram, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(240_000)

const ispb = '12345678'
const waitMs = 60_000
const connection = { connectionsMax: 1, statementTimeoutMs: 10_000, logger: quietLogger }

const linesOf = async ({ sql }: Database): Promise<readonly string[]> => {
  const rows = await sql<{ line: string }[]>`
    select end_to_end_id || ' ' || status as line from spi_messages where type = 'pacs.008'`
  return rows.map(({ line }) => line).sort()
}

const end = async (program: RunningProgram): Promise<void> => {
  program.signal('SIGKILL')
  await program.end()
}

/** Puts a group back to the first message at or after a moment, as `kafka-consumer-groups --reset-offsets` does. */
const rewind = async (admin: Admin, groupId: string, at: Date): Promise<void> => {
  const name = groupId.slice(groupId.indexOf('.') + 1)
  const { topics } = await admin.metadata({ topics: [name] })
  const partitions = Array.from({ length: topics.get(name)?.partitionsCount ?? 0 }, (_, one) => one)
  const offsetsAt = async (timestamp: bigint) => {
    const asked = partitions.map((partitionIndex) => ({ partitionIndex, timestamp }))
    const [found] = await admin.listOffsets({ topics: [{ name, partitions: asked }] })
    return found?.partitions ?? []
  }
  const ends = new Map((await offsetsAt(-1n)).map((one) => [one.partitionIndex, one.offset]))
  const partitionOffsets = (await offsetsAt(BigInt(at.getTime()))).map((one) => ({
    partition: one.partitionIndex,
    // Nothing came since.
    offset: one.offset < 0n ? (ends.get(one.partitionIndex) ?? 0n) : one.offset,
  }))
  await admin.alterConsumerGroupOffsets({ groupId, topics: [{ name, partitionOffsets }] })
}

/** It takes its time: a Kafka, two databases, three gateways. */
const notNow = isLong ? noCopies : ' [skipped: long tests only]'

test.skipIf(notNow !== '' || !isKafkaHere)(
  `what Kafka has is read again into a copy: payments go out once, and none that came in is lost${notNow}`,
  async () => {
    const [kafka, cluster, bank, keys] = await Promise.all([
      startTestKafka(),
      startCluster(),
      createCentralBank({ longPollMs: 200, settlementLimitMs: 300_000 }),
      apiKeyFile('*'),
    ])
    const [first, second] = [cluster.url, new URL(cluster.url)]
    second.pathname = '/copy'
    const start = async (dsn: string, roles: string) => {
      const program = startProgram(anyVariant, ['serve'], {
        env: {
          HTTP_ADDR: '127.0.0.1:0',
          CARDGW_PORT: '0',
          API_KEYS_FILE: keys.file,
          DATABASE_DSN: dsn,
          ISPB: ispb,
          TRILHO_ROLES: roles,
          BROKER_ADDRESSES: kafka.address,
          SPI_AUTO_ACCEPT: 'true',
          SPI_PRIMARY_URL: bank.url,
          SPI_SECONDARY_URL: bank.secondaryUrl,
          SPI_SETTLEMENT_LIMIT: '10',
        },
      })
      const line = JSON.parse(await program.line((text) => text.includes('"msg":"listening"')))
      const send = async (cents: number): Promise<string> => {
        const params = {
          local_instrument: 'MANU',
          transactions: [transfer(ispb, '99999A04', cents)],
        }
        const response = await fetch(`${line.http_url}/v1/spi/send`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${keys.key}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ message_type: 'PACS008', params }),
        })
        const { end_to_end_ids: ids } = (await response.json()) as { end_to_end_ids?: string[] }
        return ids?.[0] ?? ''
      }
      return { program, send }
    }
    const everything = 'api,pull,worker,send,jobs'
    const received = () =>
      bank
        .book()
        .operations.filter(({ payer }) => payer !== ispb)
        .map(({ endToEndId }) => `${endToEndId} PROCESSED`)
    const becomes = async (dsn: string, sent: readonly string[]): Promise<void> => {
      const database = openDatabase({ dsn, ...connection })
      const isSame = async () => {
        const wanted = [...received(), ...sent.map((id) => `${id} ACCEPTED`)].sort()
        return (await linesOf(database)).join() === wanted.join()
      }
      await until(isSame, waitMs, `${sent.length} were sent`)
      await database.close()
    }

    const before = await start(first, 'api,pull')
    bank.payIn({ to: ispb, amountCents: 100n })
    const open = [await before.send(200), await before.send(300)]
    const copiedAt = new Date()
    const copy = copyOf(first)
    await end(before.program)
    const after = await start(first, everything)
    bank.payIn({ to: ispb, amountCents: 400n })
    const lost = await after.send(500)
    await until(async () => received().length === 2, waitMs, 'both are in the book')
    await becomes(first, [...open, lost])
    await end(after.program)

    const { sql, close } = openDatabase({ dsn: first, ...connection })
    await sql`create database copy`
    await close()
    restoreInto(second.href, copy)
    const admin = new Admin({ clientId: 'test', bootstrapBrokers: [kafka.address] })
    const early = new Date(copiedAt.getTime() - 60_000)
    // Kafka refuses while it takes a member of the group for alive.
    const isBack = () =>
      rewind(admin, 'spi-worker.spi.inbound.primary', early).then(
        () => true,
        () => false,
      )
    await until(isBack, waitMs, 'the group is put back')
    await admin.close()
    const restored = await start(second.href, everything)
    await becomes(second.href, open)
    await end(restored.program)
    const { operations, balanced } = bank.book()
    expect([operations.length, balanced]).toEqual([5, true])
    await Promise.all([bank.stop(), cluster.stop(), kafka.close()])
  },
)
