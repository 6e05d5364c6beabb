import type { Emit } from '#src/events/index.ts'
import type { Queryable } from '#src/platform/database/index.ts'
import { allowListOf, checkUrl, TargetError } from '#src/platform/http/index.ts'
import { newUuid } from '#src/platform/runtime/index.ts'
import type { WebhookSettings } from './config.ts'
import { emitEvents } from './events.ts'
import { retryElsewhere } from './queue.ts'
import {
  madeByAnother,
  requireOwn,
  requireUnlimited,
  visibleTo,
  type WebhookRights,
} from './rights.ts'
import { type EndpointRow, isVisible } from './store.ts'

/** The endpoint of a topic, as its interface shows it. */
type TopicEndpoint = {
  readonly topic: string
  readonly url: string
  readonly createdAt: Date
}

type TopicFilter = {
  /** The beginning of the topics. */
  readonly prefix: string
  readonly from: Date
  readonly to: Date
  readonly offset: number
  readonly limit: number
}

/**
 * Endpoints that a standard describes: each has a topic of its own, and gets nothing else. Keys have the same rights to
 * them as to the others; if their rights forbid an act, it throws ApiError `restricted`.
 */
export type Topics = {
  /** @returns undefined, or why nothing may be sent there */
  readonly objectionTo: (url: string) => string | undefined
  /** Sets the endpoint, or its new URL; a disabled endpoint is active again. */
  readonly put: (
    tx: Queryable,
    endpoint: Pick<TopicEndpoint, 'topic' | 'url'>,
    by: WebhookRights,
  ) => Promise<void>
  readonly find: (
    sql: Queryable,
    topic: string,
    by: WebhookRights,
  ) => Promise<TopicEndpoint | undefined>
  /** Without `by`, removes it whoever owns it. @returns false: there was none */
  readonly remove: (tx: Queryable, topic: string, by?: WebhookRights) => Promise<boolean>
  /** Lists endpoints in the order in which they were made. */
  readonly list: (
    sql: Queryable,
    by: WebhookRights,
    filter: TopicFilter,
  ) => Promise<{ readonly items: readonly TopicEndpoint[]; readonly total: number }>
  readonly emit: Emit
}

/** The URL of deliveries. The API Pix says `{webhookUrl}/pix`: the second step of the topic, after one slash. */
export const targetOf = ({
  topic,
  url,
}: {
  readonly topic: string | null
  readonly url: string
}) => (topic === null ? url : `${url.replace(/\/$/, '')}/${topic.split('/')[1] ?? ''}`)

const columns = (sql: Queryable) => sql`topic, url, created_at as "createdAt"`

export const createTopics = ({
  allowedTargets = [],
}: Pick<WebhookSettings, 'allowedTargets'>): Topics => {
  const allowed = allowListOf(allowedTargets)
  return {
    objectionTo: (url) => {
      try {
        checkUrl(url, allowed)
        return undefined
      } catch (error) {
        if (error instanceof TargetError) return error.message
        throw error
      }
    },
    put: async (tx, { topic, url }, by) => {
      requireUnlimited(by, managing)
      const { account, createdBy } = visibleTo(by)
      await retryElsewhere(tx, { topic }, url)
      const put = await tx`
        insert into webhook_endpoints (id, account, created_by, url, topic, events, include)
        values (${`whk_${newUuid()}`}, ${account}, ${by.keyId}, ${url}, ${topic},
          array[${topic}]::text[], 'full')
        on conflict (topic) where topic is not null do update set account = excluded.account,
          created_by = excluded.created_by, url = excluded.url, active = true,
          disabled_reason = null, failing_since = null
        ${
          createdBy === null
            ? tx``
            : tx`where webhook_endpoints.account <> excluded.account
                or webhook_endpoints.created_by = excluded.created_by`
        }`
      if (put.count === 0) throw madeByAnother()
    },
    find: findTopic,
    remove: async (tx, topic, by) => {
      if (by !== undefined) {
        requireUnlimited(by, managing)
        if ((await findTopic(tx, topic, by)) === undefined) return false
      }
      const removed = await tx`
        delete from webhook_endpoints where topic = ${topic}
          ${by === undefined ? tx`` : tx`and ${isVisible(tx, visibleTo(by))}`}`
      return removed.count > 0
    },
    list: listTopics,
    emit: emitEvents,
  }
}

const managing = 'managing webhooks'

const findTopic: Topics['find'] = async (sql, topic, by) => {
  const [found] = await sql<(TopicEndpoint & Pick<EndpointRow, 'account' | 'createdBy'>)[]>`
    select ${columns(sql)}, account, created_by as "createdBy" from webhook_endpoints
    where topic = ${topic}`
  return requireOwn(found, by)
}

const listTopics: Topics['list'] = async (sql, by, { prefix, from, to, offset, limit }) => {
  const matching = sql`
    from webhook_endpoints where ${isVisible(sql, visibleTo(by))} and starts_with(topic, ${prefix})
      and created_at between ${from} and ${to}`
  const [items, [counted]] = await Promise.all([
    sql<TopicEndpoint[]>`
      select ${columns(sql)} ${matching} order by created_at, topic offset ${offset} limit ${limit}`,
    sql<{ total: number }[]>`select count(*)::int as total ${matching}`,
  ])
  return { items, total: counted?.total ?? 0 }
}
