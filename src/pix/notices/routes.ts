import { z } from 'zod'
import { pixKeyKind } from '#codecs/brcode'
import type { Route } from '#src/platform/http/index.ts'
import { pixErrors } from '../errors.ts'
import { allTime, readList } from '../pages.ts'
import { pixRoute } from '../pix-route.ts'
import { refuseWebhook, type WebhookService } from './service.ts'

export const webhookBodyBytesMax = 16_384
const urlCharsMax = 2_048

/** The characters of RFC 3986: clients with types read no address that has others, nor a list that shows it. */
const uriForm = /^(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$/

const body = z.object({ webhookUrl: z.string().max(urlCharsMax).regex(uriForm) })

const readKey = (key: string): string => {
  if (pixKeyKind(key) !== undefined) return key
  const razao = 'O parâmetro {chave} não corresponde a uma chave DICT válida.'
  throw refuseWebhook('chave', razao, key)
}

/** Undefined: the body is not what the standard describes. */
export const readWebhookUrl = (value: unknown): string | undefined =>
  body.safeParse(value).data?.webhookUrl

/** `webhook`: where a receiver is told of its Pix that have a txid. */
export const webhookRoutes = (service: WebhookService): readonly Route[] => [
  pixRoute('PUT /webhook/{chave}', 'webhook:write', 'Configurar o Webhook Pix.', {
    bodyBytesMax: webhookBodyBytesMax,
    handle: async ({ params, body, caller }) => {
      const key = readKey(params.chave)
      const url = readWebhookUrl(body)
      if (url === undefined) {
        const razao = 'Campo webhook.webhookUrl não respeita o schema.'
        throw refuseWebhook('webhook.webhookUrl', razao)
      }
      await service.put(key, url, caller)
      return new Response(null, { status: 200 })
    },
  }),
  pixRoute('GET /webhook/{chave}', 'webhook:read', 'Exibir informações acerca do Webhook Pix.', {
    handle: async ({ params, caller }) => Response.json(await service.find(caller, params.chave)),
  }),
  pixRoute('DELETE /webhook/{chave}', 'webhook:write', 'Cancelar o webhook Pix.', {
    handle: async ({ params, caller }) => {
      await service.remove(caller, params.chave)
      return new Response(null, { status: 204 })
    },
  }),
  pixRoute('GET /webhook', 'webhook:read', 'Consultar webhooks cadastrados.', {
    handle: async ({ caller, c }) => {
      const filter = readList(c, pixErrors.webhook_consulta_invalida, { missing: allTime }).done({})
      return Response.json(await service.list(caller, filter))
    },
  }),
]
