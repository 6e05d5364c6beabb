import type { Revision } from '#codecs/iso20022'
import type { TransactionalBroker } from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'

/** What every feature needs that builds messages and queues them. */
export type Sending = {
  readonly ispb: string
  readonly sql: Client
  readonly broker: Pick<TransactionalBroker, 'publishIn'>
  readonly revision: Revision
}

/** What this process has of that: a part is undefined while the setting behind it is missing. */
export type SendingParts = Pick<Sending, 'revision'> & {
  readonly [P in Exclude<keyof Sending, 'revision'>]: Sending[P] | undefined
}

export const canSend = <Parts extends SendingParts>(parts: Parts): parts is Parts & Sending =>
  settingsMissing(parts).length === 0

/** The settings without which nothing can be sent; endpoints answer 503 and name them. */
export const settingsMissing = ({ ispb, sql, broker }: SendingParts): readonly string[] => [
  ...(ispb === undefined ? ['ISPB'] : []),
  ...(sql === undefined || broker === undefined ? ['DATABASE_DSN'] : []),
]
