import {
  callerOf,
  type RequestContext,
  type Route,
  readJsonValue,
  respond,
} from '#src/platform/http/index.ts'
import { pixErrors, violates } from '../errors.ts'
import { readList } from '../pages.ts'
import { pixRoute } from '../pix-route.ts'
import { readNewCharge, readRevision, refuse } from './body.ts'
import { txidForm } from './domain.ts'
import type { ChargeService } from './service.ts'

const bodyBytesMax = 65_536

const txidOf = (c: RequestContext): string => {
  const txid = c.req.param('txid') ?? ''
  if (txidForm.test(txid)) return txid
  throw refuse({
    razao: 'O campo cob.txid não respeita o schema.',
    propriedade: 'cob.txid',
    valor: txid.slice(0, 100),
  })
}

const revisionOf = (c: RequestContext): number | undefined => {
  const given = c.req.query('revisao')
  if (given === undefined || /^\d{1,9}$/.test(given)) {
    return given === undefined ? undefined : Number(given)
  }
  const razao = 'O parâmetro revisao não respeita o schema.'
  const violacao = { razao, propriedade: 'revisao', valor: given.slice(0, 100) }
  throw violates(pixErrors.cob_consulta_invalida, [violacao])
}

/** `cob`: charges that are paid at once. */
export const chargeRoutes = (service: ChargeService): readonly Route[] => [
  pixRoute('PUT', '/cob/{txid}', 'cob:write', 'Criar cobrança imediata.', {
    bodyBytesMax,
    handle: async (c) => {
      const { owner } = callerOf(c)
      const txid = txidOf(c)
      const request = readNewCharge(await readJsonValue(c))
      return Response.json(await service.put(owner, txid, request), { status: 201 })
    },
  }),
  pixRoute('POST', '/cob', 'cob:write', 'Criar cobrança imediata, com txid nosso.', {
    bodyBytesMax,
    isIdempotent: true,
    handle: async (c) => {
      const request = readNewCharge(await readJsonValue(c))
      return respond(await service.create(request, callerOf(c)))
    },
  }),
  pixRoute('PATCH', '/cob/{txid}', 'cob:write', 'Revisar cobrança imediata.', {
    bodyBytesMax,
    handle: async (c) => {
      const { owner } = callerOf(c)
      const txid = txidOf(c)
      const request = readRevision(await readJsonValue(c))
      return Response.json(await service.revise(owner, txid, request))
    },
  }),
  pixRoute('GET', '/cob/{txid}', 'cob:read', 'Consultar cobrança imediata.', {
    handle: async (c) =>
      Response.json(await service.find(callerOf(c).owner, txidOf(c), revisionOf(c))),
  }),
  pixRoute('GET', '/cob', 'cob:read', 'Consultar lista de cobranças imediatas.', {
    handle: async (c) => {
      const reader = readList(c, pixErrors.cob_consulta_invalida)
      const debtorTaxId = reader.taxId()
      const status = reader.text('status', /^[A-Z_]{1,40}$/)
      const isShown = reader.flag('locationPresente')
      const filter = reader.done({ status, debtorTaxId, isShown })
      const asGiven = {
        ...(debtorTaxId === undefined
          ? {}
          : { [debtorTaxId.length === 11 ? 'cpf' : 'cnpj']: debtorTaxId }),
        ...(status === undefined ? {} : { status }),
        ...(isShown === undefined ? {} : { locationPresente: isShown }),
      }
      return Response.json(await service.list(callerOf(c).owner, filter, asGiven))
    },
  }),
]
