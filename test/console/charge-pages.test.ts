import { afterEach, expect, mock, spyOn, test } from 'bun:test'
import { answerOf, loadConsole } from './load-console.ts'

/* While somebody reads on, charges enter and leave a list of one status: the pages leave out none that stayed. */

type Page = { readonly rows: readonly { readonly txid: string }[]; readonly next: string | null }
type Charge = {
  readonly txid: string
  status: string
  cpf?: string
  readonly calendario: { readonly criacao: string }
}

const { pageOfCharges } = await loadConsole<{
  readonly pageOfCharges: (kind: string, filter: object, cursor?: string) => Promise<Page>
}>(['charge-kinds.ts'])

afterEach(() => mock.restore())

const size = 50

/** Serves charges as the API Pix does; every other one is paid, except the oldest. @returns a spy on the requests */
const serve = (charges: readonly Charge[]) =>
  spyOn(globalThis, 'fetch').mockImplementation((async (asked: string) => {
    const { searchParams: query } = new URL(asked, 'http://x')
    const status = query.get('status')
    const cpf = query.get('cpf')
    const found = charges.filter(
      (one) => (status === null || one.status === status) && (cpf === null || one.cpf === cpf),
    )
    const from = Number(query.get('paginacao.paginaAtual')) * size
    const paginacao = {
      quantidadeDePaginas: Math.max(1, Math.ceil(found.length / size)),
      quantidadeTotalDeItens: found.length,
    }
    return answerOf({ cobs: found.slice(from, from + size), parametros: { paginacao } })
  }) as unknown as typeof fetch)

/** @param everyMs the time from one charge to the next; 0: all are made at once */
const chargesOf = (many: number, everyMs = 1): Charge[] =>
  Array.from({ length: many }, (_, at) => ({
    txid: `t${at}`,
    status: at > 100 && at % 2 === 1 ? 'CONCLUIDA' : 'ATIVA',
    calendario: { criacao: new Date(Date.UTC(2026, 10, 1) + at * everyMs).toISOString() },
  }))

const readAll = async (status: string, meanwhile: (page: number) => void, taxId = '') => {
  const filter = { status, taxId, from: '2026-11-01', to: '2026-11-28' }
  const seen: string[] = []
  let next: string | null | undefined
  for (let page = 0; next !== null; page++) {
    const answer = await pageOfCharges('cob', filter, next)
    seen.push(...answer.rows.map(({ txid }) => txid))
    next = answer.next
    meanwhile(page)
  }
  return seen
}

test.each([1, 10, 50, 100])('%i older ones that are paid after the first page', async (many) => {
  const charges = chargesOf(600)
  const before = charges.filter(({ status }) => status === 'CONCLUIDA').map(({ txid }) => txid)
  serve(charges)
  const seen = await readAll('CONCLUIDA', (page) => {
    if (page > 0) return
    for (const one of charges.slice(0, many)) one.status = 'CONCLUIDA'
  })
  expect(before.filter((txid) => !seen.includes(txid))).toEqual([])
})

test('older ones that become those of the payer who is looked for', async () => {
  const charges = chargesOf(600)
  for (const one of charges.slice(300)) one.cpf = '1'
  serve(charges)
  const meanwhile = (page: number): void => {
    if (page === 0) for (const one of charges.slice(0, 50)) one.cpf = '1'
  }
  const seen = await readAll('', meanwhile, '1')
  const wanted = charges.slice(300).map(({ txid }) => txid)
  expect(wanted.filter((txid) => !seen.includes(txid))).toEqual([])
})

test.each([1, 0])(
  'those that leave hide none of those that come (made every %i ms)',
  async (everyMs) => {
    const charges = chargesOf(900, everyMs)
    const paid = charges.filter(({ status }) => status === 'CONCLUIDA')
    serve(charges)
    const seen = await readAll('CONCLUIDA', (page) => {
      if (page > 0) return
      for (const one of charges.slice(0, 100)) one.status = 'CONCLUIDA'
      for (const one of paid.slice(-50)) one.status = 'REMOVIDA_PELO_PSP'
    })
    const left = paid.slice(0, -50).map(({ txid }) => txid)
    expect(left.filter((txid) => !seen.includes(txid))).toEqual([])
  },
)

test('however many come at the end, what is older is read on', async () => {
  const charges = chargesOf(600, 0)
  const before = charges.filter(({ status }) => status === 'ATIVA').map(({ txid }) => txid)
  const asks = serve(charges)
  const seen = await readAll('ATIVA', (page) => {
    if (page > 0) return
    for (const one of chargesOf(1_200)) {
      const criacao = `2026-11-02${one.calendario.criacao.slice(10)}`
      charges.push({ txid: `new-${one.txid}`, status: 'ATIVA', calendario: { criacao } })
    }
  })
  // Each page except the first is read with the one after it.
  expect([seen, asks.mock.calls.length]).toEqual([before.toReversed(), 14])
})

test('what leaves leaves nothing else out, though the page that was next is none any more', async () => {
  const charges = chargesOf(260)
  serve(charges)
  const seen = await readAll('ATIVA', (page) => {
    if (page === 0) for (const one of charges.slice(0, 150)) one.status = 'CONCLUIDA'
  })
  const left = charges.filter(({ status }) => status === 'ATIVA').map(({ txid }) => txid)
  expect(left.filter((txid) => !seen.includes(txid))).toEqual([])
})

test('where more has come than is looked through, it says so', async () => {
  const charges = chargesOf(2_000)
  serve(charges)
  const all = readAll('CONCLUIDA', () => {
    for (const one of charges) one.status = 'CONCLUIDA'
  })
  await expect(all).rejects.toThrow('search again')
})

test('charges of any status stay where they are, and each page is asked for once', async () => {
  const asks = serve(chargesOf(260))
  const seen = await readAll('', () => {})
  // The first page also tells how many there are.
  expect([seen.length, new Set(seen).size, asks.mock.calls.length]).toEqual([260, 260, 7])
})
