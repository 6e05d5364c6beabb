import type { Caller, Route } from '#src/platform/http/index.ts'
import { pixErrors, violates } from '../errors.ts'
import { readList } from '../pages.ts'
import { pixRoute } from '../pix-route.ts'
import { readBatchRevision, readNewBatch } from './body.ts'
import { type BatchName, batchIdIn } from './domain.ts'
import type { BatchService } from './service.ts'

const bodyBytesMax = 4_194_304
/** A hundred for each charge: a caller that sends so many may wait, but it makes others wait, too. */
const bodyValuesMax = 100_000
/** A batch is shown with all its charges. */
const perPageMax = 100

const nameOf = (
  given: string,
  { owner }: Caller,
  definition: Parameters<typeof violates>[0] = pixErrors.lote_cobv_operacao_invalida,
): BatchName => {
  const id = batchIdIn(given)
  if (id !== undefined) return { account: owner, id }
  const razao = `O campo loteCobV.id não é um número de 1 a ${Number.MAX_SAFE_INTEGER}.`
  throw violates(definition, [{ razao, propriedade: 'loteCobV.id', valor: given }])
}

const accepted = (): Response => new Response(null, { status: 202 })

/** `lotecobv`: charges with a due date, many at once. */
export const batchRoutes = (service: BatchService): readonly Route[] => [
  pixRoute('PUT /lotecobv/{id}', 'lotecobv:write', 'Criar ou alterar lote de cobranças.', {
    bodyBytesMax,
    bodyValuesMax,
    handle: async ({ params, body, caller }) => {
      await service.put(nameOf(params.id, caller), readNewBatch(body))
      return accepted()
    },
  }),
  pixRoute('PATCH /lotecobv/{id}', 'lotecobv:write', 'Revisar cobranças de um lote.', {
    bodyBytesMax,
    bodyValuesMax,
    handle: async ({ params, body, caller }) => {
      await service.revise(nameOf(params.id, caller), readBatchRevision(body))
      return accepted()
    },
  }),
  pixRoute('GET /lotecobv/{id}', 'lotecobv:read', 'Consultar lote de cobranças.', {
    handle: async ({ params, caller }) =>
      Response.json(
        await service.find(nameOf(params.id, caller, pixErrors.lote_cobv_consulta_invalida)),
      ),
  }),
  pixRoute('GET /lotecobv', 'lotecobv:read', 'Consultar lista: lotes de cobranças.', {
    handle: async ({ caller, c }) => {
      const request = readList(c, pixErrors.lote_cobv_consulta_invalida, { perPageMax }).done({})
      return Response.json(await service.list(caller.owner, request))
    },
  }),
]
