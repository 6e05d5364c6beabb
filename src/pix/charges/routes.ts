import { type RequestContext, type Route, respond } from '#src/platform/http/index.ts'
import { batchIdIn } from '../batches/domain.ts'
import { violates } from '../errors.ts'
import { readList } from '../pages.ts'
import { pixRoute } from '../pix-route.ts'
import { type ChargeRequest, type RevisionRequest, readNewCharge, readRevision } from './body.ts'
import { chargeStatuses, txidForm } from './domain.ts'
import type { ChargeService } from './service.ts'
import { type Wording, wordings } from './wording.ts'

const bodyBytesMax = 65_536

const txidIn = (txid: string, { kind }: Wording, refuse: Wording['refuse']): string => {
  if (txidForm.test(txid)) return txid
  const propriedade = `${kind}.txid`
  const razao = `O campo ${propriedade} não respeita o schema.`
  throw refuse({ razao, propriedade, valor: txid })
}

const revisionOf = (c: RequestContext, { query }: Wording): number | undefined => {
  const given = c.req.query('revisao')
  if (given === undefined || /^\d{1,9}$/.test(given)) {
    return given === undefined ? undefined : Number(given)
  }
  const razao = 'O parâmetro revisao não respeita o schema.'
  throw violates(query, [{ razao, propriedade: 'revisao', valor: given }])
}

type KindOfRoutes = {
  readonly wording: Wording
  /** What its summaries call it. */
  readonly name: string
  readonly readNew: (value: unknown) => ChargeRequest
  readonly readRevision: (value: unknown) => RevisionRequest
}

/** What charges of both kinds have. */
export const routesOfKind = (
  service: ChargeService,
  { wording, name, readNew, readRevision: readChange }: KindOfRoutes,
): readonly Route[] => {
  const { kind, refuse, query } = wording
  const [reading, writing] = [`${kind}:read`, `${kind}:write`] as const
  return [
    pixRoute(`PUT /${kind}/{txid}`, writing, `Criar ${name}.`, {
      bodyBytesMax,
      handle: async ({ params, body, caller }) => {
        const txid = txidIn(params.txid, wording, refuse)
        const request = readNew(body)
        return Response.json(await service.put(caller.owner, txid, request), { status: 201 })
      },
    }),
    pixRoute(`PATCH /${kind}/{txid}`, writing, `Revisar ${name}.`, {
      bodyBytesMax,
      handle: async ({ params, body, caller }) => {
        const txid = txidIn(params.txid, wording, refuse)
        const request = readChange(body)
        return Response.json(await service.revise(caller.owner, txid, request))
      },
    }),
    pixRoute(`GET /${kind}/{txid}`, reading, `Consultar ${name}.`, {
      handle: async ({ params, caller, c }) => {
        const txid = txidIn(params.txid, wording, (...found) => violates(query, found))
        return Response.json(await service.find(caller.owner, txid, revisionOf(c, wording)))
      },
    }),
    listRoute(service, wording, name),
  ]
}

const listRoute = (service: ChargeService, { kind, query }: Wording, name: string): Route =>
  pixRoute(`GET /${kind}`, `${kind}:read`, `Consultar lista: ${name}.`, {
    handle: async ({ caller, c }) => {
      const reader = readList(c, query)
      const debtorTaxId = reader.taxId()
      const status = reader.oneOf('status', chargeStatuses)
      const isShown = reader.flag('locationPresente')
      const batchId = kind === 'cobv' ? reader.parsed('loteCobVId', batchIdIn) : undefined
      const filter = reader.done({ status, debtorTaxId, isShown, batchId })
      return Response.json(await service.list(caller.owner, filter))
    },
  })

/** `cob`: charges that are paid at once. */
export const chargeRoutes = (service: ChargeService): readonly Route[] => [
  ...routesOfKind(service, {
    wording: wordings.cob,
    name: 'cobrança imediata',
    readNew: readNewCharge,
    readRevision,
  }),
  pixRoute('POST /cob', 'cob:write', 'Criar cobrança imediata, com txid nosso.', {
    bodyBytesMax,
    idempotent: true,
    handle: async ({ body, caller }) => {
      const request = readNewCharge(body)
      return respond(await service.create(request, caller))
    },
  }),
]
