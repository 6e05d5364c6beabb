import type { Client } from '#src/platform/database/index.ts'
import {
  ApiError,
  actorOf,
  type Caller,
  type ErrorDefinition,
  type Route,
  writeAudit,
} from '#src/platform/http/index.ts'
import { pixErrors, violates } from '../errors.ts'
import { pixRoute } from '../pix-route.ts'
import { topicOf } from './domain.ts'
import { readWebhookUrl, webhookBodyBytesMax } from './routes.ts'
import type { Topics } from './service.ts'

type Told = 'rec' | 'cobr'

/** Why an address is refused. */
const refusals: Readonly<Record<Told, ErrorDefinition>> = {
  rec: pixErrors.webhook_rec_operacao_invalida,
  cobr: pixErrors.webhook_cobr_operacao_invalida,
}

const createAutomaticWebhookService = (sql: Client, topics: Topics, told: Told) => {
  const noWebhook = (): ApiError =>
    new ApiError(pixErrors.nao_encontrado, 'O webhook não está estabelecido.')
  return {
    put: (url: string, by: Caller) => {
      if (topics.objectionTo(url) !== undefined) {
        throw refuse(told, 'O endereço não pode ser notificado.', url)
      }
      return sql.begin(async (tx) => {
        await topics.put(tx, { topic: topicOf(told, by.owner), url }, by)
        await writeAudit(tx, {
          actor: actorOf(by),
          action: 'pix.webhook',
          object: told,
          outcome: 'put',
        })
      })
    },
    find: async (by: Caller) => {
      const found = await topics.find(sql, topicOf(told, by.owner), by)
      if (found === undefined) throw noWebhook()
      return { webhookUrl: found.url, criacao: found.createdAt.toISOString() }
    },
    remove: (by: Caller) =>
      sql.begin(async (tx) => {
        if (!(await topics.remove(tx, topicOf(told, by.owner), by))) throw noWebhook()
        await writeAudit(tx, {
          actor: actorOf(by),
          action: 'pix.webhook',
          object: told,
          outcome: 'removed',
        })
      }),
  }
}

const refuse = (told: Told, razao: string, valor?: string): ApiError =>
  violates(refusals[told], [{ razao, propriedade: 'webhookUrl', valor }])

/** `webhookrec` and `webhookcobr`: where an account is told of all its recurrences, or all their charges. */
export const automaticWebhookRoutes = (sql: Client, topics: Topics): readonly Route[] =>
  (['rec', 'cobr'] as const).flatMap((told) => {
    const service = createAutomaticWebhookService(sql, topics, told)
    const path = `/webhook${told}` as const
    const [read, write] = [`webhook${told}:read`, `webhook${told}:write`] as const
    return [
      pixRoute(`PUT ${path}`, write, 'Configurar Webhook.', {
        bodyBytesMax: webhookBodyBytesMax,
        handle: async ({ body, caller }) => {
          const url = readWebhookUrl(body)
          if (url === undefined) throw refuse(told, 'O campo webhookUrl não respeita o schema.')
          await service.put(url, caller)
          return new Response(null, { status: 200 })
        },
      }),
      pixRoute(`GET ${path}`, read, 'Exibir informações acerca do Webhook.', {
        handle: async ({ caller }) => Response.json(await service.find(caller)),
      }),
      pixRoute(`DELETE ${path}`, write, 'Cancelar o Webhook.', {
        handle: async ({ caller }) => {
          await service.remove(caller)
          return new Response(null, { status: 204 })
        },
      }),
    ]
  })
