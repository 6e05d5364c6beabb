import { type Route, respond } from '#src/platform/http/index.ts'
import { pixErrors, violates } from '../errors.ts'
import { type ListRequest, readList } from '../pages.ts'
import { pixRoute } from '../pix-route.ts'
import { type LocationKind, locationKinds } from './domain.ts'
import type { ChargeLocationService, LocationService } from './service.ts'

const bodyBytesMax = 4_096

const kindOf = (body: unknown): LocationKind => {
  const given =
    typeof body === 'object' && body !== null && 'tipoCob' in body ? body.tipoCob : undefined
  const kind = locationKinds.find((one) => one === given)
  if (kind !== undefined) return kind
  const propriedade = 'tipoCob'
  const valor = typeof given === 'string' ? given : undefined
  throw violates(pixErrors.payload_location_operacao_invalida, [
    { razao: 'O campo tipoCob não respeita o schema.', propriedade, valor },
  ])
}

/** `loc`: addresses of payloads. */
export const locationRoutes = (service: ChargeLocationService): readonly Route[] => [
  pixRoute('POST /loc', 'payloadlocation:write', 'Criar location do payload.', {
    bodyBytesMax,
    idempotent: true,
    handle: async ({ body, caller }) => {
      const kind = kindOf(body)
      return respond(await service.create(kind, caller))
    },
  }),
  pixRoute('GET /loc', 'payloadlocation:read', 'Consultar locations cadastradas.', {
    handle: async ({ caller, c }) => {
      const reader = readList(c, pixErrors.payload_location_consulta_invalida)
      const isUsed = reader.flag('txIdPresente')
      const kind = reader.oneOf('tipoCob', locationKinds)
      const filter = reader.done({ isUsed, kind })
      return Response.json(await service.list(caller.owner, filter))
    },
  }),
  ...oneLocationRoutes(service, '', 'txid', 'Desvincular uma cobrança.'),
]

/** The routes of one address, of either kind. @param shown what it shows until it is freed */
export const oneLocationRoutes = (
  { find, free }: Pick<LocationService<never, ListRequest>, 'find' | 'free'>,
  kind: '' | 'rec',
  shown: 'txid' | 'idRec',
  freeing: string,
): readonly Route[] => [
  pixRoute(
    `GET /loc${kind}/{id}`,
    `payloadlocation${kind}:read`,
    'Recuperar location do payload.',
    {
      handle: async ({ params, caller }) => Response.json(await find(caller.owner, params.id)),
    },
  ),
  pixRoute(`DELETE /loc${kind}/{id}/${shown}`, `payloadlocation${kind}:write`, freeing, {
    handle: async ({ params, caller }) => Response.json(await free(caller.owner, params.id)),
  }),
]
