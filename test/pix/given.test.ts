import { expect, test } from 'bun:test'
import { pixErrors } from '#src/pix/errors.ts'
import { parametersOf, readList } from '#src/pix/pages.ts'
import type { RequestContext } from '#src/platform/http/index.ts'

const asking = (query: Readonly<Record<string, string>>): RequestContext => {
  const given = { inicio: '2026-01-01T00:00:00Z', fim: '2026-01-02T00:00:00Z', ...query }
  const queries = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, [value]]))
  return { req: { queries: () => queries } } as unknown as RequestContext
}

test('a list answers with the filters that it was given, and no other', () => {
  const query = { cnpj: '12345678000195', txIdPresente: 'false', status: 'ATIVA', convenio: 'um' }
  const reader = readList(asking(query), pixErrors.rec_consulta_invalida)
  reader.taxId()
  reader.flag('txIdPresente')
  reader.flag('locationPresente')
  reader.text('status', /^[A-Z]+$/)
  reader.text('convenio', /^\w+$/, 'recebedor')
  const parametros = parametersOf(reader.done({}), 0)
  expect(parametros).toEqual({
    inicio: '2026-01-01T00:00:00.000Z',
    fim: '2026-01-02T00:00:00.000Z',
    cnpj: '12345678000195',
    txIdPresente: false,
    status: 'ATIVA',
    recebedor: { convenio: 'um' },
    paginacao: {
      paginaAtual: 0,
      itensPorPagina: 100,
      quantidadeDePaginas: 1,
      quantidadeTotalDeItens: 0,
    },
  } as unknown as typeof parametros)
})
