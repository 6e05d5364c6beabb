import { z } from 'zod'
import {
  actorOf,
  callerOf,
  type RequestContext,
  type Route,
  readJsonValue,
  text,
} from '#src/platform/http/index.ts'
import { pixErrors } from '../errors.ts'
import { amountForm, centsOf } from '../money.ts'
import { readList } from '../pages.ts'
import { pixRoute } from '../pix-route.ts'
import { type PixService, type ReturnRequest, refuseReturn } from './service.ts'

const bodyBytesMax = 4_096
const descriptionCharsMax = 140
const shownCharsMax = 100

const body = z.object({
  valor: z.string().regex(amountForm),
  natureza: z.enum(['ORIGINAL', 'RETIRADA']).default('ORIGINAL'),
  descricao: text(descriptionCharsMax).optional(),
})

const readReturn = (value: unknown): ReturnRequest => {
  const parsed = body.safeParse(value)
  const name = String(parsed.error?.issues[0]?.path[0] ?? '')
  const propriedade = name === '' ? 'devolucao' : `devolucao.${name}`
  if (!parsed.success)
    throw refuseReturn(propriedade, `O campo ${propriedade} não respeita o schema.`)
  const { valor, natureza, descricao } = parsed.data
  const amountCents = centsOf(valor)
  if (amountCents === 0n) throw refuseReturn('devolucao.valor', 'O campo devolucao.valor é zero.')
  return { amountCents, nature: natureza, description: descricao }
}

const endToEndIdOf = (c: RequestContext): string => c.req.param('e2eid') ?? ''

const returnIdOf = (c: RequestContext): string => {
  const id = c.req.param('id') ?? ''
  if (/^[a-zA-Z0-9]{1,35}$/.test(id)) return id
  throw refuseReturn('id', 'O id não respeita o schema.', id.slice(0, shownCharsMax))
}

/** `pix`: what was received, and what is given back. */
export const pixRoutes = (service: PixService): readonly Route[] => [
  pixRoute('GET', '/pix', 'pix:read', 'Consultar Pix recebidos.', {
    handle: async (c) => {
      const reader = readList(c, pixErrors.pix_consulta_invalida)
      const payerTaxId = reader.taxId()
      const txid = reader.text('txid', /^[a-zA-Z0-9]{1,35}$/)
      const hasTxid = reader.flag('txIdPresente')
      const hasReturns = reader.flag('devolucaoPresente')
      const filter = reader.done({ payerTaxId, txid, hasTxid, hasReturns })
      return Response.json(await service.list(callerOf(c).owner, filter))
    },
  }),
  pixRoute('GET', '/pix/{e2eid}', 'pix:read', 'Consultar Pix.', {
    handle: async (c) => Response.json(await service.find(callerOf(c).owner, endToEndIdOf(c))),
  }),
  pixRoute('PUT', '/pix/{e2eid}/devolucao/{id}', 'pix:write', 'Solicitar devolução.', {
    bodyBytesMax,
    handle: async (c) => {
      const caller = callerOf(c)
      const named = { endToEndId: endToEndIdOf(c), id: returnIdOf(c) }
      const request = readReturn(await readJsonValue(c))
      const made = await service.giveBack(caller.owner, named, request, actorOf(caller))
      return Response.json(made, { status: 201 })
    },
  }),
  pixRoute('GET', '/pix/{e2eid}/devolucao/{id}', 'pix:read', 'Consultar devolução.', {
    handle: async (c) =>
      Response.json(await service.findReturn(callerOf(c).owner, endToEndIdOf(c), returnIdOf(c))),
  }),
]
