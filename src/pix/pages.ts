import type { PendingQuery, Row } from 'postgres'
import { cpfForm } from '#codecs/taxpayer'
import { type Queryable, rowCount } from '#src/platform/database/index.ts'
import { type ErrorDefinition, instant, type RequestContext } from '#src/platform/http/index.ts'
import { type Violacao, violates } from './errors.ts'

/**
 * The lists of the API Pix: a time from `inicio` to `fim`, pages by number, and how many there are. To count is to look
 * at every item, so a list that holds more than {@link itemsMax} is refused: whoever needs more asks for shorter times.
 */
export const itemsMax = 10_000

const itemsPerPageMax = 1_000
const perPageDefault = 100

/** What a list is asked for, before its own filters. */
export type ListRequest = {
  readonly from: Date
  readonly to: Date
  readonly page: number
  readonly perPage: number
}

/** The same, with what its answer tells of it. */
export type Asked<Filter = ListRequest> = Filter & {
  /** The filters as they were given. */
  readonly given: Readonly<Record<string, unknown>>
  /** What is answered if the list holds too much. */
  readonly refusal: ErrorDefinition
}

/** The period of a list that may be asked for without one. */
export const allTime = {
  inicio: new Date('1970-01-01T00:00:00Z'),
  fim: new Date('9999-12-31T23:59:59Z'),
} as const

type ListOptions = {
  /** The times that count if none are given; undefined: they must be given. */
  readonly missing?: typeof allTime
  /** The most items of a page, where items are large. */
  readonly perPageMax?: number
}

/** Parameters as they were given, one by one; every broken one is noted. */
const parametersIn = (query: Readonly<Record<string, readonly string[]>>) => {
  const violacoes: Violacao[] = []
  const given: Record<string, unknown> = {}
  const note = (name: string, razao: string, valor?: string): undefined => {
    const isKnown = violacoes.some(({ propriedade }) => propriedade === name)
    if (!isKnown) violacoes.push({ razao, propriedade: name, valor })
    return undefined
  }
  const malformed = (name: string, valor?: string, hint = ''): undefined =>
    note(name, `O parâmetro ${name} não respeita o schema${hint}.`, valor)
  const raw = (name: string): string | undefined => {
    const all = query[name] ?? []
    return all.length > 1 ? malformed(name) : all[0]
  }
  /**
   * @param parse undefined: the value breaks the parameter's schema, of which the hint tells
   * @param within the member of the answer's parameters that holds it; undefined: they hold it themselves
   */
  const parsed = <T>(
    name: string,
    parse: (value: string) => T | undefined,
    { hint, within }: { readonly hint?: string; readonly within?: string | undefined } = {},
  ): T | undefined => {
    const value = raw(name)
    if (value === undefined) return undefined
    const read = parse(value)
    if (read === undefined) return malformed(name, value, hint)
    Object.assign(given, within ? { [within]: { [name]: read } } : { [name]: read })
    return read
  }
  return { violacoes, given, note, malformed, raw, parsed }
}

/** How the parameters of a list are read; every broken one is noted. @param refusal of what is thrown */
export const readList = (
  c: RequestContext,
  refusal: ErrorDefinition,
  { missing, perPageMax = itemsPerPageMax }: ListOptions = {},
) => {
  const query = c.req.queries()
  const { violacoes, given, note, malformed, raw, parsed } = parametersIn(query)
  const time = (name: keyof typeof allTime): Date | undefined => {
    const value = raw(name)
    if (value === undefined && missing !== undefined) return missing[name]
    const at = instant.safeParse(value)
    return at.success ? at.data : malformed(name, value)
  }
  const whole = (name: string, min: number, max: number, missing: number): number => {
    const value = raw(name)
    if (value === undefined) return missing
    if (/^-\d{1,9}$/.test(value)) note(name, `O parâmetro ${name} é negativo.`, value)
    else if (!/^\d{1,9}$/.test(value) || Number(value) < min || Number(value) > max) {
      malformed(name, value)
    } else return Number(value)
    return missing
  }
  const text = (name: string, form: RegExp, within?: string): string | undefined =>
    parsed(name, (value) => (form.test(value) ? value : undefined), { within })
  const from = time('inicio')
  const to = time('fim')
  if (from !== undefined && to !== undefined && to < from) {
    note('fim', 'O timestamp representado pelo parâmetro fim é anterior ao do parâmetro inicio.')
  }
  const page = whole('paginacao.paginaAtual', 0, Number.MAX_SAFE_INTEGER, 0)
  const perPage = whole('paginacao.itensPorPagina', 1, perPageMax, perPageDefault)
  return {
    parsed,
    text,
    flag: (name: string): boolean | undefined =>
      parsed(name, (value) => (/^(?:true|false)$/.test(value) ? value === 'true' : undefined)),
    /** A value that the standard names. */
    oneOf: <const T extends string>(name: string, allowed: readonly T[]): T | undefined =>
      parsed(name, (value) => allowed.find((one) => one === value), {
        hint: `: os valores são ${allowed.join(', ')}`,
      }),
    /** CPF or CNPJ, of which only one may be given. */
    taxId: () => {
      const cpf = text('cpf', cpfForm)
      const cnpj = text('cnpj', /^[0-9A-Z]{14}$/)
      if (query['cpf'] !== undefined && query['cnpj'] !== undefined) {
        note('cpf', 'Ambos os parâmetros cpf e cnpj estão preenchidos.')
      }
      return cpf ?? cnpj
    },
    /** @throws ApiError as the list's definition, if any parameter breaks a rule */
    done: <T>(filters: T): Asked<ListRequest & T> => {
      if (violacoes.length > 0 || from === undefined || to === undefined) {
        throw violates(refusal, violacoes)
      }
      return { from, to, page, perPage, given, refusal, ...filters }
    },
  }
}

/** `parametros` of a list's answer. @throws ApiError if there are more than {@link itemsMax} */
export const parametersOf = ({ from, to, page, perPage, given, refusal }: Asked, total: number) => {
  if (total > itemsMax) {
    const razao = `O intervalo de inicio a fim tem mais de ${itemsMax} itens: consulte intervalos menores.`
    throw violates(refusal, [{ razao, propriedade: 'fim', valor: to.toISOString() }])
  }
  return {
    inicio: from.toISOString(),
    fim: to.toISOString(),
    ...given,
    paginacao: {
      paginaAtual: page,
      itensPorPagina: perPage,
      quantidadeDePaginas: Math.max(1, Math.ceil(total / perPage)),
      quantidadeTotalDeItens: total,
    },
  }
}

/** The part of a list that a query reads. */
export type Slice = { readonly offset: number; readonly limit: number }

/** Pages past the bound are empty, and cost nothing. */
export const sliceOf = ({ page, perPage }: ListRequest): Slice => ({
  offset: Math.min(page * perPage, itemsMax),
  limit: perPage,
})

/** The same, as the end of a query. */
export const pageOf = (sql: Queryable, request: ListRequest) => {
  const { offset, limit } = sliceOf(request)
  return sql`offset ${rowCount(sql, offset)} limit ${rowCount(sql, limit)}`
}

/** What a list is narrowed by: columns, or expressions that an index has. */
export type Narrowing = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * Puts first what the fewest match alone: all else is looked for among these.
 *
 * @param countBy how many match one of them alone, up to one more than a list may hold
 * @returns undefined: each alone matches more than that, and among so many nothing is looked for
 */
export const fewestFirst = async (
  given: Narrowing,
  countBy: (one: Narrowing) => Promise<number>,
): Promise<Narrowing | undefined> => {
  const all = Object.entries(given).filter(([, value]) => value !== undefined)
  if (all.length < 2) return given
  const counted = await Promise.all(
    all.map(async (one) => ({ one, count: await countBy(Object.fromEntries([one])) })),
  )
  const sorted = counted.toSorted((a, b) => a.count - b.count)
  return sorted[0] !== undefined && sorted[0].count > itemsMax
    ? undefined
    : Object.fromEntries(sorted.map(({ one }) => one))
}

/**
 * The first leads the order as a range of one value, so that only its own index has the order: in a table that looked
 * empty while the plan was made, the planner would walk all of the time. The others are looked for among what it leads to,
 * of which there are no more than a list may hold.
 */
export const narrowedBy = (sql: Queryable, given: Narrowing) => {
  const [lead, ...others] = Object.entries(given).flatMap(([column, value]) =>
    value === undefined ? [] : [{ name: sql.unsafe(column), value }],
  )
  if (lead === undefined) return { matching: sql``, order: sql``, others: undefined }
  const { name, value } = lead
  const [second, ...more] = others.map((other) => sql`${other.name} = ${other.value}`)
  return {
    matching: sql`and ${name} between ${value} and ${value}`,
    order: sql`${name},`,
    others: second && more.reduce((all, one) => sql`${all} and ${one}`, second),
  }
}

/** A list: `from` its table `where` its conditions, and the columns that it is in the order of. */
type Ordered = { readonly from: PendingQuery<Row[]>; readonly order: PendingQuery<Row[]> }

const narrowed = (sql: Queryable, { from, order }: Ordered, narrowing: Narrowing) => {
  const by = narrowedBy(sql, narrowing)
  const led = sql`${from} ${by.matching} order by ${by.order} ${order}`
  return by.others === undefined
    ? led
    : sql`
      from (select * ${led} limit ${rowCount(sql, itemsMax + 1)}) p
      where ${by.others} order by ${order}`
}

/**
 * A page of a list that is narrowed, or {@link tooMany}.
 *
 * @param read reads the page: its argument is `from` and what follows, up to the order
 */
export const narrowedPage = async <T>(
  sql: Queryable,
  ordered: Ordered,
  given: Narrowing,
  read: (matching: PendingQuery<Row[]>) => Promise<readonly T[]>,
): Promise<Listed<T>> => {
  const of = (narrowing: Narrowing) => narrowed(sql, ordered, narrowing)
  const narrowing = await fewestFirst(given, (one) => countOf(sql, of(one)))
  if (narrowing === undefined) return tooMany
  const [items, total] = await Promise.all([read(of(narrowing)), countOf(sql, of(narrowing))])
  return { items, total }
}

/** A page of a list, and how many items all of it has. */
export type Listed<T> = { readonly items: readonly T[]; readonly total: number }

/** A list that is refused. */
export const tooMany: Listed<never> = { items: [], total: itemsMax + 1 }

/** How many rows there are, up to one more than a list may hold. @param matching `from` and what follows */
export const countOf = async (sql: Queryable, matching: PendingQuery<Row[]>): Promise<number> => {
  const [counted] = await sql<{ total: number }[]>`
    select count(*)::int as total from (select ${matching} limit ${rowCount(sql, itemsMax + 1)}) counted`
  return counted?.total ?? 0
}
