import type { Client } from '#src/platform/database/index.ts'
import { type Actor, writeAudit } from '#src/platform/http/index.ts'
import { topicOf } from '../notices/domain.ts'
import type { Topics } from '../notices/service.ts'
import type { Receiver } from './domain.ts'
import { findReceiver, listReceivers, putReceiver, removeReceiver } from './store.ts'

export type ReceiverService = {
  /** Undefined: the key is another account's. */
  readonly put: (
    receiver: Omit<Receiver, 'createdAt'>,
    actor: Actor,
  ) => Promise<Receiver | undefined>
  /** In the order of their keys, after the one given. */
  readonly list: (limit: number, after: string | undefined) => Promise<readonly Receiver[]>
  readonly find: (key: string) => Promise<Receiver | undefined>
  /** False: there was none. */
  readonly remove: (key: string, actor: Actor) => Promise<boolean>
}

/** Which account may charge with which Pix key. */
export const createReceiverService = (
  sql: Client,
  topics: Pick<Topics, 'remove'>,
): ReceiverService => ({
  put: (wanted, actor) =>
    sql.begin(async (tx) => {
      const receiver = await putReceiver(tx, wanted)
      if (receiver === undefined) return undefined
      const entry = { action: 'pix.receiver', object: receiver.key, outcome: 'put' } as const
      await writeAudit(tx, { ...entry, actor })
      return receiver
    }),
  list: (limit, after) => listReceivers(sql, limit, after),
  find: (key) => findReceiver(sql, key),
  remove: (key, actor) =>
    sql.begin(async (tx) => {
      if (!(await removeReceiver(tx, key))) return false
      await topics.remove(tx, topicOf('pix', key))
      const entry = { action: 'pix.receiver', object: key, outcome: 'removed' } as const
      await writeAudit(tx, { ...entry, actor })
      return true
    }),
})
