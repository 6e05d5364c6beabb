import type { ComponentChildren } from 'preact'
import type { Followed } from '../followed.ts'
import { type Act, ActButtons, type Ask, may, useActs } from './act.tsx'
import { getJson, type Loaded, type Session, useLoaded } from './api.ts'
import { whenChanged } from './live.ts'
import { Card, Shown } from './parts.tsx'
import { Badge } from './state.tsx'
import { type Column, column, ListTable } from './table.tsx'
import { words } from './words.ts'

/** Some things are a concern only after a time. */
const everyMs = 30_000
const shownMax = 50
/** We ask for one row more than we count, to learn whether there are more. */
export const askedMax = shownMax + 1

/** How many rows wait, and whether there are more than that. */
export type Counted = { readonly many: number; readonly isMore: boolean }

const countedOf = ({ length }: readonly unknown[]): Counted => ({
  many: Math.min(length, shownMax),
  isMore: length > shownMax,
})

export const useList = <T,>(path: Followed, asked: Waiting['asked'] = String): Loaded<T> =>
  useLoaded(path, (purpose) => getJson<T>(asked(path), purpose), whenChanged(path, everyMs))

type SectionProps<A, T> = {
  readonly title: string
  readonly note?: string
  readonly loaded: Loaded<A>
  readonly rowsOf: (answer: A) => readonly T[]
  readonly columns: readonly Column<T>[]
  readonly keyOf: (row: T) => string
}

type View = (props: { readonly session: Session }) => ComponentChildren

/** A kind of thing that waits for a person: the overview counts them, and a section shows them. */
export type Waiting = {
  readonly title: string
  /** Its name in the overview: the singular, and the plural behind a bar. */
  readonly concern: string
  /** The scope that a key needs to see it. */
  readonly scope: string
  /** The list that we follow for changes. */
  readonly path: Followed
  /** Narrows the list to what counts now; absent: all of it. */
  readonly asked?: (path: string) => string
  readonly countOf: (answer: never) => Counted
  readonly View: View
}

/**
 * A list of things that wait for a person.
 *
 * @param actScope the scope that all acts need; absent: `actsOf` judges the session
 */
export const waiting = <A, T, K = undefined>({
  concern,
  scope,
  path,
  asked = String,
  actScope,
  useKnown,
  actsOf,
  columns,
  ...section
}: Omit<SectionProps<A, T>, 'loaded'> &
  Pick<Waiting, 'concern' | 'scope' | 'path' | 'asked'> & {
    readonly actScope?: string
    /** Loads what else its acts depend on. */
    readonly useKnown?: () => K | undefined
    readonly actsOf?: (row: T, session: Session, known: K | undefined) => readonly Act[]
  }): Waiting => ({
  title: section.title,
  concern,
  scope,
  path,
  asked,
  countOf: (answer: A) => countedOf(section.rowsOf(answer)),
  View: ({ session }) => {
    const loaded = useList<A>(path, asked)
    const known = useKnown?.()
    const { ask, dialog } = useActs(loaded.again)
    const isAllowed = actScope === undefined || may(session, actScope)
    const acts = actsOf && actsColumn<T>(isAllowed, ask, (row) => actsOf(row, session, known))
    return (
      <>
        <Section<A, T> {...section} loaded={loaded} columns={[...columns, ...(acts ?? [])]} />
        {dialog}
      </>
    )
  },
})

/** A list with a note; short if it is empty, and left out if the gateway has no such thing. */
export const Section = <A, T>({
  title,
  note,
  loaded,
  rowsOf,
  columns,
  keyOf,
}: SectionProps<A, T>) => {
  if (loaded.error?.code === 'not_configured') return null
  const { many, isMore } = countedOf(loaded.value === undefined ? [] : rowsOf(loaded.value))
  const badge =
    many === 0 ? (
      <Badge status="ok" label="0" />
    ) : (
      <Badge status="unknown" label={`${many}${isMore ? '+' : ''}`} />
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
              <ListTable columns={columns} rows={rowsOf(answer)} keyOf={keyOf} />
            </>
          )
        }
      </Shown>
    </Card>
  )
}

/** The column of a row's acts; none if the session may not act. */
export const actsColumn = <T,>(
  isAllowed: boolean,
  ask: Ask,
  actsOf: (row: T) => readonly Act[],
): readonly Column<T>[] =>
  isAllowed
    ? [column(words.action, (row) => <ActButtons acts={actsOf(row)} ask={ask} />, 'number acts')]
    : []
