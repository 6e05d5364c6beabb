import type { Client } from '#src/platform/database/index.ts'
import type { MessageDetail, MessageFilter, MessageRecord, Page } from './domain.ts'
import { findMessage, listMessages, readDocument } from './queries.ts'

export type MessageList = {
  readonly messages: readonly MessageRecord[]
  readonly total: number
  /** The id to go on from; undefined on the last page. */
  readonly next: string | undefined
}

export type MessageService = {
  readonly list: (filter: MessageFilter, page: Page) => Promise<MessageList>
  readonly find: (id: string) => Promise<MessageDetail | undefined>
  readonly document: (id: string) => Promise<Uint8Array | undefined>
}

export const createMessageService = (sql: Client): MessageService => ({
  list: async (filter, page) => {
    // One more than asked tells whether there is a further page.
    const { messages, total } = await listMessages(sql, filter, { ...page, limit: page.limit + 1 })
    const shown = messages.slice(0, page.limit)
    return {
      messages: shown,
      total,
      next: messages.length > page.limit ? shown.at(-1)?.id : undefined,
    }
  },
  find: (id) => findMessage(sql, id),
  document: (id) => readDocument(sql, id),
})
