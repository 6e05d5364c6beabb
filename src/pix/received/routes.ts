import { z } from 'zod'
import { actorOf, type Route } from '#src/platform/http/index.ts'
import { bodyReader, pixErrors, violates } from '../errors.ts'
import { amountForm, centsOf } from '../money.ts'
import { readList } from '../pages.ts'
import { pixRoute } from '../pix-route.ts'
import { shownText } from '../shown-text.ts'
import { type PixService, type ReturnRequest, refuseReturn } from './service.ts'

const bodyBytesMax = 4_096
const descriptionCharsMax = 140

const body = z.object({
  valor: z.string().regex(amountForm),
  natureza: z.enum(['ORIGINAL', 'RETIRADA']).default('ORIGINAL'),
  descricao: shownText(descriptionCharsMax).optional(),
})

/** @throws ApiError `pix_devolucao_invalida`, with every member that does not fit */
const read = bodyReader('devolucao', ['valor', 'natureza', 'descricao'], (...found) =>
  violates(pixErrors.pix_devolucao_invalida, found),
)

const readReturn = (value: unknown): ReturnRequest => {
  const { valor, natureza, descricao } = read(body, value)
  const amountCents = centsOf(valor)
  if (amountCents === 0n) throw refuseReturn('devolucao.valor', 'O campo devolucao.valor é zero.')
  return { amountCents, nature: natureza, description: descricao }
}

const returnIdIn = (id: string): string => {
  if (/^[a-zA-Z0-9]{1,35}$/.test(id)) return id
  throw refuseReturn('id', 'O id não respeita o schema.', id)
}

/** `pix`: what was received, and what is given back. */
export const pixRoutes = (service: PixService): readonly Route[] => [
  pixRoute('GET /pix', 'pix:read', 'Consultar Pix recebidos.', {
    handle: async ({ caller, c }) => {
      const reader = readList(c, pixErrors.pix_consulta_invalida)
      const payerTaxId = reader.taxId()
      const txid = reader.text('txid', /^[a-zA-Z0-9]{1,35}$/)
      const hasTxid = reader.flag('txIdPresente')
      const hasReturns = reader.flag('devolucaoPresente')
      const filter = reader.done({ payerTaxId, txid, hasTxid, hasReturns })
      return Response.json(await service.list(caller.owner, filter))
    },
  }),
  pixRoute('GET /pix/{e2eid}', 'pix:read', 'Consultar Pix.', {
    handle: async ({ params, caller }) =>
      Response.json(await service.find(caller.owner, params.e2eid)),
  }),
  pixRoute('PUT /pix/{e2eid}/devolucao/{id}', 'pix:write', 'Solicitar devolução.', {
    bodyBytesMax,
    handle: async ({ params, body, caller }) => {
      const named = { endToEndId: params.e2eid, id: returnIdIn(params.id) }
      const request = readReturn(body)
      const made = await service.giveBack(caller.owner, named, request, actorOf(caller))
      return Response.json(made, { status: 201 })
    },
  }),
  pixRoute('GET /pix/{e2eid}/devolucao/{id}', 'pix:read', 'Consultar devolução.', {
    handle: async ({ params, caller }) =>
      Response.json(await service.findReturn(caller.owner, params.e2eid, params.id)),
  }),
]
