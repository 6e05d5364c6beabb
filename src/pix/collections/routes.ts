import { type Route, respond } from '#src/platform/http/index.ts'
import { type Day, isDay } from '#src/platform/runtime/index.ts'
import { txidForm } from '../charges/domain.ts'

import { pixErrors } from '../errors.ts'
import { readList } from '../pages.ts'
import { pixRoute } from '../pix-route.ts'
import { agreementForm } from '../recurrences/routes.ts'
import { readCancelled, refuseCollection } from './body.ts'
import { collectionStatuses } from './domain.ts'
import type { CollectionService } from './service.ts'

const bodyBytesMax = 16_384

const newTxidIn = (txid: string): string => {
  if (txidForm.test(txid)) return txid
  const propriedade = 'cobr.txid'
  const razao = `O campo ${propriedade} não respeita o schema.`
  throw refuseCollection({ razao, propriedade, valor: txid })
}

const dayIn = (day: string): Day => {
  if (isDay(day)) return day
  const razao = 'O parâmetro data não respeita o schema.'
  throw refuseCollection({ razao, propriedade: 'data', valor: day })
}

/** `cobr`: what is charged for recurrences. */
export const collectionRoutes = (service: CollectionService): readonly Route[] => [
  pixRoute('PUT /cobr/{txid}', 'cobr:write', 'Criar cobrança recorrente.', {
    bodyBytesMax,
    handle: async ({ params, body, caller }) => {
      const txid = newTxidIn(params.txid)
      const made = await service.put(caller.owner, txid, body)
      return Response.json(made, { status: 201 })
    },
  }),
  pixRoute('POST /cobr', 'cobr:write', 'Criar cobrança recorrente.', {
    bodyBytesMax,
    idempotent: true,
    handle: async ({ body, caller }) => respond(await service.create(body, caller)),
  }),
  pixRoute('PATCH /cobr/{txid}', 'cobr:write', 'Revisar cobrança recorrente.', {
    bodyBytesMax,
    handle: async ({ params, body, caller }) => {
      readCancelled(body)
      return Response.json(await service.cancel(caller.owner, params.txid))
    },
  }),
  pixRoute(
    'POST /cobr/{txid}/retentativa/{data}',
    'cobr:write',
    'Solicitar retentativa de cobrança.',
    {
      handle: async ({ params, caller }) =>
        Response.json(await service.retry(caller.owner, params.txid, dayIn(params.data)), {
          status: 201,
        }),
    },
  ),
  pixRoute('GET /cobr/{txid}', 'cobr:read', 'Consultar cobrança recorrente.', {
    handle: async ({ params, caller }) =>
      Response.json(await service.find(caller.owner, params.txid)),
  }),
  pixRoute('GET /cobr', 'cobr:read', 'Consultar lista de cobranças recorrentes.', {
    handle: async ({ caller, c }) => {
      const reader = readList(c, pixErrors.cobr_consulta_invalida)
      const recurrenceId = reader.text('idRec', /^[a-zA-Z0-9]{29}$/)
      const debtorTaxId = reader.taxId()
      const status = reader.oneOf('status', collectionStatuses)
      const agreement = reader.text('convenio', agreementForm)
      const filter = reader.done({ recurrenceId, debtorTaxId, status, agreement })
      return Response.json(await service.list(caller.owner, filter))
    },
  }),
]
