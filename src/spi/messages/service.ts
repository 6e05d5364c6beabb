import type { Client } from '#src/platform/database/index.ts'
import type { MessageDetail, MessageFilter, MessageRecord, Page } from './domain.ts'
import { findMessage, listMessages, readDocument } from './queries.ts'

type MessageList = {
  readonly messages: readonly MessageRecord[]
  readonly total: number
}

export type MessageService = {
  readonly list: (filter: MessageFilter, page: Page) => Promise<MessageList>
  readonly find: (id: string) => Promise<MessageDetail | undefined>
  readonly document: (id: string) => Promise<Uint8Array | undefined>
}

export const createMessageService = (sql: Client): MessageService => ({
  list: (filter, page) => listMessages(sql, filter, page),
  find: (id) => findMessage(sql, id),
  document: (id) => readDocument(sql, id),
})
