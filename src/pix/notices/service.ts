import type { Emit } from '#src/events/index.ts'
import { type Client, inSnapshot, type Queryable } from '#src/platform/database/index.ts'
import { ApiError, actorOf, type Caller, writeAudit } from '#src/platform/http/index.ts'
import { pixErrors, violates } from '../errors.ts'
import { type Asked, parametersOf, sliceOf } from '../pages.ts'
import type { Receiver } from '../receivers/domain.ts'
import { findReceiver, holdReceiver, receiversOf } from '../receivers/store.ts'
import { keyOf, keysPrefix, topicOf } from './domain.ts'

type Endpoint = { readonly topic: string; readonly url: string; readonly createdAt: Date }

/** Where receivers are told; whoever sends webhooks is passed in, and knows what of them is whose. */
export type Topics = {
  readonly objectionTo: (url: string) => string | undefined
  readonly put: (
    tx: Queryable,
    endpoint: Pick<Endpoint, 'topic' | 'url'>,
    by: Caller,
  ) => Promise<void>
  readonly find: (sql: Queryable, topic: string, by: Caller) => Promise<Endpoint | undefined>
  readonly remove: (tx: Queryable, topic: string, by?: Caller) => Promise<boolean>
  readonly list: (
    sql: Queryable,
    by: Caller,
    filter: {
      readonly prefix: string
      readonly from: Date
      readonly to: Date
      readonly offset: number
      readonly limit: number
    },
  ) => Promise<{ readonly items: readonly Endpoint[]; readonly total: number }>
  readonly emit: Emit
}

export type WebhookService = ReturnType<typeof createPixWebhookService>

export const refuseWebhook = (propriedade: string, razao: string, valor?: string): ApiError =>
  violates(pixErrors.webhook_operacao_invalida, [{ razao, propriedade, valor }])

const noWebhook = (): ApiError =>
  new ApiError(pixErrors.webhook_nao_encontrado, 'O webhook da chave não está estabelecido.')

/** Webhooks of the standard, by key. */
export const createPixWebhookService = (sql: Client, topics: Topics) => ({
  /** @throws ApiError `webhook_operacao_invalida` */
  put: (key: string, url: string, by: Caller): Promise<void> => {
    if (topics.objectionTo(url) !== undefined) {
      throw refuseWebhook('webhook.webhookUrl', 'O endereço não pode ser notificado.', url)
    }
    return sql.begin(async (tx) => {
      // Holds the key: its removal, which also removes the webhook, then comes after this.
      if (!(await holdReceiver(tx, key, by.owner))) {
        const razao = 'O parâmetro {chave} não corresponde a uma chave deste usuário recebedor.'
        throw refuseWebhook('chave', razao, key)
      }
      await topics.put(tx, { topic: topicOf('pix', key), url }, by)
      await writeAudit(tx, {
        actor: actorOf(by),
        action: 'pix.webhook',
        object: key,
        outcome: 'put',
      })
    })
  },
  /** @throws ApiError `webhook_nao_encontrado` */
  find: async (by: Caller, key: string) => {
    const found = await topics.find(sql, topicOf('pix', key), by)
    if (found === undefined) throw noWebhook()
    return viewOf(found, await findReceiver(sql, key, by.owner))
  },
  /** @throws ApiError `webhook_nao_encontrado` */
  remove: (by: Caller, key: string) =>
    sql.begin(async (tx) => {
      if (!(await topics.remove(tx, topicOf('pix', key), by))) throw noWebhook()
      await writeAudit(tx, {
        actor: actorOf(by),
        action: 'pix.webhook',
        object: key,
        outcome: 'removed',
      })
    }),
  list: async (by: Caller, filter: Asked) => {
    const { from, to } = filter
    const { items, total } = await inSnapshot(sql, (tx) =>
      topics.list(tx, by, { prefix: keysPrefix, from, to, ...sliceOf(filter) }),
    )
    const parametros = parametersOf(filter, total)
    const receivers = await receiversOf(
      sql,
      by.owner,
      items.map(({ topic }) => keyOf(topic)),
    )
    return {
      parametros,
      webhooks: items.map((one) => viewOf(one, receivers.get(keyOf(one.topic)))),
    }
  },
})

/** The schema requires a CNPJ, the example shows the key: a receiver with a CPF has the latter alone. */
const viewOf = ({ topic, url, createdAt }: Endpoint, receiver: Receiver | undefined) => ({
  webhookUrl: url,
  chave: keyOf(topic),
  ...(receiver?.taxId.length === 14 ? { cnpj: receiver.taxId } : {}),
  criacao: createdAt.toISOString(),
})
