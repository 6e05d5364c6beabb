import { atOneMoment, type Client } from '#src/platform/database/index.ts'
import { type Activity, readActivity } from '#src/platform/http/index.ts'
import { paymentActivity } from './activity.ts'
import type { MessageDetail, MessageFilter, MessageRecord, Page } from './domain.ts'
import { findMessage, listMessages, readDocument } from './queries.ts'

type MessageList = {
  readonly messages: readonly MessageRecord[]
  readonly total: number
}

export type MessageService = {
  readonly list: (filter: MessageFilter, page: Page) => Promise<MessageList>
  readonly find: (id: string) => Promise<MessageDetail | undefined>
  readonly activity: (minutes: number) => Promise<Activity>
  readonly document: (id: string) => Promise<Uint8Array | undefined>
}

export const createMessageService = (sql: Client): MessageService => ({
  list: (filter, page) => atOneMoment(sql, (tx) => listMessages(tx, filter, page)),
  find: (id) => findMessage(sql, id),
  activity: (minutes) => readActivity(sql, minutes, paymentActivity(sql)),
  document: (id) => readDocument(sql, id),
})
