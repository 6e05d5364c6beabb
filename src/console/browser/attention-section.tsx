import type { ComponentChildren } from 'preact'
import type { Followed } from '../followed.ts'
import { type Act, ActButtons, type Ask, may, useActs } from './act.tsx'
import { getJson, type Loaded, type Session, useLoaded } from './api.ts'
import { whenChanged } from './live.ts'
import { Card, Shown } from './parts.tsx'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import { type Column, Table } from './table.tsx'
import { words } from './words.ts'

/** Some of it is a concern only after a time. */
const everyMs = 30_000
export const shownMax = 50

export const useList = <T,>(name: string, path: Followed): Loaded<T> =>
  useLoaded(name, (purpose) => getJson<T>(path, purpose), whenChanged(path, everyMs))

type SectionProps<A, T> = {
  readonly title: string
  readonly note?: string
  readonly loaded: Loaded<A>
  readonly rowsOf: (answer: A) => readonly T[]
  readonly columns: readonly Column<T>[]
  readonly keyOf: (row: T) => string
}

export type View = (props: { readonly session: Session }) => ComponentChildren

/**
 * A section that loads its list.
 *
 * @param scope that whoever acts needs
 */
export const sectionView =
  <A, T>({
    name,
    path,
    scope,
    actsOf,
    columns,
    ...section
  }: Omit<SectionProps<A, T>, 'loaded'> & {
    readonly name: string
    readonly path: Followed
    readonly scope: string
    readonly actsOf: (row: T, session: Session) => readonly Act[]
  }): View =>
  ({ session }) => {
    const loaded = useList<A>(name, path)
    const { ask, dialog } = useActs(loaded.again)
    const acts = actsColumn<T>(may(session, scope), ask, (row) => actsOf(row, session))
    return (
      <>
        <Section<A, T> {...section} loaded={loaded} columns={[...columns, ...acts]} />
        {dialog}
      </>
    )
  }

/** A list with a line of what it is; short where there is nothing, and left out where the gateway has no such thing. */
export const Section = <A, T>({
  title,
  note,
  loaded,
  rowsOf,
  columns,
  keyOf,
}: SectionProps<A, T>) => {
  if (loaded.error?.code === 'not_configured') return null
  const many = loaded.value === undefined ? 0 : rowsOf(loaded.value).length
  const badge =
    many === 0 ? (
      <Badge status="ok" label="0" />
    ) : (
      <Badge status="unknown" label={`${many}${many === shownMax ? '+' : ''}`} />
    )
  return (
    <Card
      title={title}
      aside={loaded.value !== undefined && badge}
      isQuiet={many === 0 && loaded.error === undefined}
    >
      <Shown loaded={loaded}>
        {(answer) =>
          rowsOf(answer).length > 0 && (
            <>
              {note !== undefined && <p class="quiet">{note}</p>}
              <div class="list">
                <Table columns={columns} rows={rowsOf(answer)} keyOf={keyOf} />
              </div>
            </>
          )
        }
      </Shown>
    </Card>
  )
}

/** The column of what may be done about a row; none for those who may not. */
export const actsColumn = <T,>(
  isAllowed: boolean,
  ask: Ask,
  actsOf: (row: T) => readonly Act[],
): readonly Column<T>[] =>
  isAllowed
    ? [
        {
          head: words.action,
          classes: ['number', 'acts'],
          cell: (row) => <ActButtons acts={actsOf(row)} ask={ask} />,
        },
      ]
    : []

export const linkColumn = <T,>(to: (row: T) => string, text: (row: T) => string): Column<T> => ({
  head: words.identifier,
  classes: ['wide'],
  cell: (row) => (
    <Link to={to(row)} class="mono">
      {text(row)}
    </Link>
  ),
})
