import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Refusal, refusalOf, useLoaded, type Wake } from './api.ts'
import { count, dayOf, timeOf } from './format.ts'
import { Refused, Shown } from './parts.tsx'
import { IdLink } from './router.tsx'
import { Rows } from './rows.tsx'
import { Badge } from './state.tsx'
import { words } from './words.ts'

/** `wide`: on a phone a line of its own. `extra`: left out there. `acts`: buttons. */
type ColumnClass = 'wide' | 'mono' | 'extra' | 'number' | 'quiet' | 'acts'
type ColumnClasses = ColumnClass | `${ColumnClass} ${ColumnClass}` | 'extra number quiet'

export type Column<T> = {
  readonly head: string
  readonly cell: (row: T) => ComponentChildren
  readonly classes?: ColumnClasses | undefined
}

export const column = <T,>(
  head: string,
  cell: Column<T>['cell'],
  classes?: ColumnClasses,
): Column<T> => ({ head, cell, classes })

export const statusColumn: Column<{ readonly status?: string }> = {
  head: words.status,
  cell: ({ status = '' }) => <Badge status={status} />,
}

/** The identifier of a row, with a link to its page. */
export const linkColumn = <T,>(
  to: (row: T) => string,
  text: (row: T) => string,
  head = words.identifier,
): Column<T> => column(head, (row) => <IdLink to={to(row)}>{text(row)}</IdLink>, 'wide')

type Time = string | null | undefined

/** The moment of a row: day and time, with the instant for machines. */
export const momentColumn = <T,>(
  atOf: (row: T) => Time,
  head = words.time,
  classes: ColumnClasses = 'number quiet',
): Column<T> => column(head, (row) => <Moment at={atOf(row)} />, classes)

/** @param none the text for an unknown moment */
export const Moment = ({ at, none = '–' }: { readonly at: Time; readonly none?: string }) =>
  at ? (
    <time dateTime={at}>
      {dayOf(at)} {timeOf(at)}
    </time>
  ) : (
    none
  )

type Rowed<T> = {
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
}

/** A table on a card, or as a card of its own. */
export const ListTable = <T,>({
  isCard = false,
  ...table
}: Rowed<T> & { readonly isCard?: boolean }) => (
  <div class={isCard ? 'card list' : 'list'}>
    <Table {...table} />
  </div>
)

/** The console's one table; on a phone each row is a block of lines. */
export const Table = <T,>({ columns, rows, keyOf }: Rowed<T>) => (
  <table>
    <thead>
      <tr>
        {columns.map(({ head, classes }) => (
          <th key={head} scope="col" class={classes}>
            {head}
          </th>
        ))}
      </tr>
    </thead>
    {partsOf(rows).map((part, at) => (
      <Rows key={at} isFirst={at === 0} columns={columns.length}>
        {() =>
          part.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ head, classes, cell }) => (
                <td key={head} class={classes}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))
        }
      </Rows>
    ))}
  </table>
)

const partRows = 50

/** At least one part: a table without rows has an empty body. */
const partsOf = <T,>(rows: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.max(1, Math.ceil(rows.length / partRows)) }, (_, at) =>
    rows.slice(at * partRows, (at + 1) * partRows),
  )

/** Keeps each row once: a row that changed meanwhile may come again on a later page. */
const eachOnce = <T,>(rows: readonly T[], keyOf: (row: T) => string): readonly T[] =>
  [...Map.groupBy(rows, keyOf).values()].flatMap((same) => same.slice(0, 1))

export type Page<T> = { readonly rows: readonly T[]; readonly next: string | null }

type Read<T> = {
  /** Names the list. */
  readonly name: string
  readonly load: (cursor: string | undefined, purpose?: 'user' | 'background') => Promise<Page<T>>
  /** Loads the first page again, so that new rows stand at the top, until somebody loads more. */
  readonly wake?: Wake
  readonly keyOf: (row: T) => string
}

type Paged<T> = Read<T> & {
  /** The title of a list, where a screen has several. */
  readonly title?: string | undefined
  readonly note?: string | undefined
  readonly empty: string
  readonly columns: readonly Column<T>[]
}

/** A list that is read page by page; another name begins anew. */
export const PagedTable = <T,>(list: Paged<T>) => <Pages key={list.name} {...list} />

/** The rows read so far, and how to read more. */
export const usePages = <T,>({ name, load, wake, keyOf }: Read<T>) => {
  // Once somebody reads on, we keep these rows and add no newer ones above them.
  const read = useRef<Page<T>>()
  const [state, setState] = useState<'working' | Refusal>()
  const loaded = useLoaded(
    name,
    async (purpose) =>
      read.current !== undefined && purpose === 'background'
        ? read.current
        : load(undefined, purpose),
    wake,
  )
  const { rows = [], next = null } = read.current ?? loaded.value ?? {}
  const more = async () => {
    if (next === null || state === 'working') return
    read.current = { rows, next }
    setState('working')
    try {
      const page = await load(next)
      read.current = { rows: [...rows, ...page.rows], next: page.next }
      setState(undefined)
    } catch (error) {
      setState(refusalOf(error))
    }
  }
  return { loaded, rows: eachOnce(rows, keyOf), next, state, more }
}

/** The button for more rows, if there are more, and why it failed. */
export const More = ({
  next,
  state,
  more,
}: Pick<ReturnType<typeof usePages>, 'next' | 'state' | 'more'>) => (
  <>
    {state instanceof Refusal && <Refused refusal={state} />}
    {next !== null && (
      // Not `disabled`, which would take the focus from a keyboard user.
      <button type="button" aria-disabled={state === 'working'} onClick={() => void more()}>
        {words.more}
      </button>
    )}
  </>
)

const Pages = <T,>({ title, note, empty, columns, ...list }: Paged<T>) => {
  const { keyOf } = list
  const { loaded, rows, ...onward } = usePages(list)
  return (
    <Shown loaded={loaded}>
      {() =>
        rows.length === 0 ? (
          <section class="card">
            <Heading title={title} note={note} />
            <p class="empty">{empty}</p>
          </section>
        ) : (
          <section class="card list">
            <Heading title={title} note={note} />
            <Table {...{ columns, rows, keyOf }} />
            <footer>
              <span class="quiet" aria-live="polite">
                {count(rows.length)} {words.loaded}
              </span>
              <More {...onward} />
            </footer>
          </section>
        )
      }
    </Shown>
  )
}

const Heading = ({
  title,
  note,
}: {
  readonly title: string | undefined
  readonly note: string | undefined
}) =>
  title === undefined ? null : (
    <header>
      <div>
        <h2>{title}</h2>
        {note !== undefined && <p class="quiet">{note}</p>}
      </div>
    </header>
  )
