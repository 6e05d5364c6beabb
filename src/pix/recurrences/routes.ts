import {
  callerOf,
  type RequestContext,
  type Route,
  readJsonValue,
  respond,
} from '#src/platform/http/index.ts'
import { pixErrors } from '../errors.ts'
import { readList } from '../pages.ts'
import { pixRoute } from '../pix-route.ts'
import { agreementCharsMax, readRecurrenceRevision } from './body.ts'
import { noRecurrenceLocation, type RecurrenceLocationService } from './locations.ts'
import type { RecurrenceService } from './service.ts'

const bodyBytesMax = 16_384
export const agreementForm = new RegExp(`^\\P{Cc}{1,${agreementCharsMax}}$`, 'u')

/** What is no id is the id of nothing. */
const locationIdOf = (c: RequestContext): bigint => {
  const id = c.req.param('id') ?? ''
  if (!/^\d{1,18}$/.test(id)) throw noRecurrenceLocation()
  return BigInt(id)
}

const idOf = (c: RequestContext): string => c.req.param('idRec') ?? ''

/** `rec`: what a payer agrees to be charged for, again and again. */
export const recurrenceRoutes = (service: RecurrenceService): readonly Route[] => [
  pixRoute('POST', '/rec', 'rec:write', 'Criar recorrência.', {
    bodyBytesMax,
    isIdempotent: true,
    handle: async (c) => respond(await service.create(await readJsonValue(c), callerOf(c))),
  }),
  pixRoute('PATCH', '/rec/{idRec}', 'rec:write', 'Revisar recorrência.', {
    bodyBytesMax,
    handle: async (c) => {
      const revision = readRecurrenceRevision(await readJsonValue(c))
      return Response.json(await service.revise(callerOf(c).owner, idOf(c), revision))
    },
  }),
  pixRoute('GET', '/rec/{idRec}', 'rec:read', 'Consultar recorrência.', {
    handle: async (c) => {
      const { owner } = callerOf(c)
      return Response.json(await service.find(owner, idOf(c), c.req.query('txid')))
    },
  }),
  pixRoute('GET', '/rec', 'rec:read', 'Consultar lista de recorrências.', {
    handle: async (c) => {
      const reader = readList(c, pixErrors.rec_consulta_invalida)
      const debtorTaxId = reader.taxId()
      const status = reader.text('status', /^[A-Z_]{1,40}$/)
      const isShown = reader.flag('locationPresente')
      const agreement = reader.text('convenio', agreementForm, 'recebedor')
      const filter = reader.done({ status, debtorTaxId, isShown, agreement })
      return Response.json(await service.list(callerOf(c).owner, filter))
    },
  }),
]

/** `locrec`: addresses of the payloads of recurrences. */
export const recurrenceLocationRoutes = (service: RecurrenceLocationService): readonly Route[] => [
  pixRoute('POST', '/locrec', 'payloadlocationrec:write', 'Criar location do payload.', {
    isIdempotent: true,
    handle: async (c) => respond(await service.create(callerOf(c))),
  }),
  pixRoute('GET', '/locrec', 'payloadlocationrec:read', 'Consultar locations cadastradas.', {
    handle: async (c) => {
      const reader = readList(c, pixErrors.payload_location_rec_consulta_invalida)
      const isUsed = reader.flag('idRecPresente')
      const agreement = reader.text('convenio', agreementForm, 'recebedor')
      const filter = reader.done({ isUsed, agreement })
      return Response.json(await service.list(callerOf(c).owner, filter))
    },
  }),
  pixRoute('GET', '/locrec/{id}', 'payloadlocationrec:read', 'Recuperar location do payload.', {
    handle: async (c) => Response.json(await service.find(callerOf(c).owner, locationIdOf(c))),
  }),
  pixRoute('DELETE', '/locrec/{id}/idRec', 'payloadlocationrec:write', 'Desvincular recorrência.', {
    handle: async (c) => Response.json(await service.free(callerOf(c).owner, locationIdOf(c))),
  }),
]
