import type { Client } from '#src/platform/database/index.ts'
import { type Actor, writeAudit } from '#src/platform/http/index.ts'
import { topicOf } from '../notices/domain.ts'
import type { Topics } from '../notices/service.ts'
import type { Receiver } from './domain.ts'
import { findReceiver, listReceivers, putReceiver, removeReceiver } from './store.ts'

export type ReceiverService = ReturnType<typeof createReceiverService>

/** Which account may charge with which Pix key. */
export const createReceiverService = (sql: Client, topics: Pick<Topics, 'remove'>) => ({
  /** @returns undefined if the key is another account's */
  put: (wanted: Omit<Receiver, 'createdAt'>, actor: Actor) =>
    sql.begin(async (tx) => {
      const receiver = await putReceiver(tx, wanted)
      if (receiver === undefined) return undefined
      const entry = { action: 'pix.receiver', object: receiver.key, outcome: 'put' } as const
      await writeAudit(tx, { ...entry, actor })
      return receiver
    }),
  /** In the order of their keys, after the one given. */
  list: (limit: number, after: string | undefined) => listReceivers(sql, limit, after),
  find: (key: string) => findReceiver(sql, key),
  /** @returns false if there was none */
  remove: (key: string, actor: Actor) =>
    sql.begin(async (tx) => {
      if (!(await removeReceiver(tx, key))) return false
      await topics.remove(tx, topicOf('pix', key))
      const entry = { action: 'pix.receiver', object: key, outcome: 'removed' } as const
      await writeAudit(tx, { ...entry, actor })
      return true
    }),
})
