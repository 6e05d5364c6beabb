import { type Route, respond } from '#src/platform/http/index.ts'
import { pixErrors } from '../errors.ts'
import { oneLocationRoutes } from '../locations/routes.ts'
import { readList } from '../pages.ts'
import { pixRoute } from '../pix-route.ts'
import { agreementCharsMax, readRecurrenceRevision } from './body.ts'
import { recurrenceStatuses } from './domain.ts'
import type { RecurrenceLocationService } from './locations.ts'
import type { RecurrenceService } from './service.ts'

const bodyBytesMax = 16_384
export const agreementForm = new RegExp(`^\\P{Cc}{1,${agreementCharsMax}}$`, 'u')

/** `rec`: what a payer agrees to be charged for, again and again. */
export const recurrenceRoutes = (service: RecurrenceService): readonly Route[] => [
  pixRoute('POST /rec', 'rec:write', 'Criar recorrência.', {
    bodyBytesMax,
    idempotent: true,
    handle: async ({ body, caller }) => respond(await service.create(body, caller)),
  }),
  pixRoute('PATCH /rec/{idRec}', 'rec:write', 'Revisar recorrência.', {
    bodyBytesMax,
    handle: async ({ params, body, caller }) => {
      const revision = readRecurrenceRevision(body)
      return Response.json(await service.revise(caller.owner, params.idRec, revision))
    },
  }),
  pixRoute('GET /rec/{idRec}', 'rec:read', 'Consultar recorrência.', {
    handle: async ({ params, caller, c }) =>
      Response.json(await service.find(caller.owner, params.idRec, c.req.query('txid'))),
  }),
  pixRoute('GET /rec', 'rec:read', 'Consultar lista de recorrências.', {
    handle: async ({ caller, c }) => {
      const reader = readList(c, pixErrors.rec_consulta_invalida)
      const debtorTaxId = reader.taxId()
      const status = reader.oneOf('status', recurrenceStatuses)
      const isShown = reader.flag('locationPresente')
      const agreement = reader.text('convenio', agreementForm, 'recebedor')
      const filter = reader.done({ status, debtorTaxId, isShown, agreement })
      return Response.json(await service.list(caller.owner, filter))
    },
  }),
]

/** `locrec`: addresses of the payloads of recurrences. */
export const recurrenceLocationRoutes = (service: RecurrenceLocationService): readonly Route[] => [
  pixRoute('POST /locrec', 'payloadlocationrec:write', 'Criar location do payload.', {
    idempotent: true,
    handle: async ({ caller }) => respond(await service.create(undefined, caller)),
  }),
  pixRoute('GET /locrec', 'payloadlocationrec:read', 'Consultar locations cadastradas.', {
    handle: async ({ caller, c }) => {
      const reader = readList(c, pixErrors.payload_location_rec_consulta_invalida)
      const isUsed = reader.flag('idRecPresente')
      const agreement = reader.text('convenio', agreementForm, 'recebedor')
      const filter = reader.done({ isUsed, agreement })
      return Response.json(await service.list(caller.owner, filter))
    },
  }),
  ...oneLocationRoutes(service, 'rec', 'idRec', 'Desvincular recorrência.'),
]
