import { ApiError, httpErrors, pageOf, type Route, route } from '#src/platform/http/index.ts'
import { documents } from './documents.ts'
import type { Lists, Provenance } from './lists.ts'
import type { Participant } from './participants/domain.ts'

const viewOf = ({ ispb, name, settlement, modality, code }: Participant) => ({
  ispb,
  name,
  settlement: settlement ?? null,
  modality: modality ?? null,
  code: code ?? null,
})

const provenanceView = ({ source, asOf }: Provenance) => ({ source, as_of: asOf })

const plain = (name: string): string => name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

export const referenceRoutes = (lists: Lists): readonly Route[] => [
  route(documents.participants, ({ query: { limit, cursor = '', name } }) => {
    const { all, provenance } = lists.participants()
    const wanted = name === undefined ? '' : plain(name)
    const found = [...all.values()].filter(
      (one) => one.ispb > cursor && plain(one.name).includes(wanted),
    )
    const { items, next } = pageOf(found.slice(0, limit + 1), limit, ({ ispb }) => ispb)
    return Response.json({
      participants: items.map(viewOf),
      next_cursor: next,
      ...provenanceView(provenance),
    })
  }),
  route(documents.participant, ({ params }) => {
    const found = lists.participants().all.get(params.ispb)
    if (found !== undefined) return Response.json(viewOf(found))
    throw new ApiError(httpErrors.not_found, 'The list of participants has no such ISPB.')
  }),
  route(documents.holidays, ({ params: { year } }) => {
    const { holidays, provenance } = lists.holidaysOf(year)
    return Response.json({
      year,
      holidays,
      ...provenanceView(provenance),
    })
  }),
]
