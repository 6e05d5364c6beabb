/** Disputes on the simulated directory, with a worker that receives payments and their returns. */

import {
  fresh,
  inbound,
  ispb,
  payment,
  paymentReturn,
  queued,
  report,
  storedWhen,
  workerOn,
} from '../spi/in/worker/support.ts'
import { createTestDatabase } from '../support/database.ts'
import { type Json, startDict } from './support.ts'

export { ispb } from '../spi/in/worker/support.ts'
/** Who pays and is paid elsewhere. */
export const other = '99999A04'

export const startDisputes = async () => {
  const database = await createTestDatabase()
  const { sql } = database
  await sql`
    insert into webhook_endpoints (id, url, events) values ('e', 'http://127.0.0.1:1/', '{dict.*}')`
  const worker = await workerOn(database)
  await worker.feature.start?.()
  const dict = await startDict({}, { on: database })
  const { addTransaction, infractions, refunds } = dict.directory.disputes
  const { poll, retry } = dict.jobs()

  const receive = async (...documents: readonly string[]): Promise<void> => {
    for (const xml of documents) {
      const resourceId = fresh.resourceId()
      await worker.broker.publish([inbound(xml, { resourceId })])
      await storedWhen(database, 'resource_id', resourceId)
    }
  }
  /** The directory knows of a payment too. */
  const known = (id: string, debited: string, credited: string, amountCents: bigint): string => {
    addTransaction({ id, debited, credited, amountCents, settledMs: Date.now() })
    return id
  }
  return {
    dict,
    sql,
    infractions,
    refunds,
    retry,
    receive,
    /** Reads the lists once they know what has happened. */
    poll: async (): Promise<void> => {
      dict.passThere(6_000)
      await poll()
    },
    call: dict.call,
    /** A payment of R$ 10.50 to us, settled. */
    received: async (amountCents = 1_050n): Promise<string> => {
      const endToEndId = fresh.endToEndId()
      await receive(payment({ endToEndId }), report([{ endToEndId, status: 'ACCC' }]))
      return known(endToEndId, other, ispb, amountCents)
    },
    /** A payment of R$ 50.00 by us, settled. */
    paid: async (): Promise<string> => {
      const endToEndId = fresh.endToEndId()
      await queued(database, 'pacs.008', [{ endToEndId, amountCents: 5_000n }])
      await receive(report([{ endToEndId, status: 'ACSC' }]))
      return known(endToEndId, ispb, other, 5_000n)
    },
    /** They give R$ 12.30 of a payment of ours back. */
    returned: async (endToEndId: string, returnId: string): Promise<void> =>
      receive(
        paymentReturn(endToEndId, returnId, 'FR01'),
        report([{ endToEndId, instructionId: returnId, status: 'ACCC' }]),
      ),
    /** What the central bank says of a return of ours. */
    answer: (endToEndId: string, returnId: string, status: string, reason?: string) =>
      receive(
        report([
          {
            endToEndId,
            instructionId: returnId,
            status,
            ...(reason === undefined ? {} : { reason }),
          },
        ]),
      ),
    returnsSent: async (endToEndId: string): Promise<number> =>
      (
        await sql`
          select from spi_transactions t join spi_messages m on m.id = t.message_id
          where t.end_to_end_id = ${endToEndId} and m.type = 'pacs.004'
            and m.direction = 'OUTBOUND'`
      ).length,
    /** The contents of the events, in their order. */
    eventsOf: async (id: string): Promise<readonly Json[]> => {
      const rows = await sql<{ type: string; data: string }[]>`
        select type, data from webhook_events where subject = ${id} order by sequence`
      return rows.map(({ type, data }) => ({ type, ...JSON.parse(data) }))
    },
    stop: async () => {
      await dict.stop()
      await worker.stop()
      await database.close()
    },
  }
}
