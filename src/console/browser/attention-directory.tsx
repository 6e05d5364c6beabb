import { useActs } from './act.tsx'
import type { Session } from './api.ts'
import { actsColumn, Section, shownMax, useList } from './attention-section.tsx'
import { amountColumn, deadlineColumn, kindText, matterColumn } from './directory.tsx'
import { directoryActs } from './directory-acts.tsx'
import { type Kind, listOf, otherOf, rowsOf, type Told } from './directory-kinds.ts'
import { directoryWords as w } from './directory-words.ts'
import { Badge } from './state.tsx'
import type { Column } from './table.tsx'
import { words } from './words.ts'

const textsOf: Readonly<Record<Kind, { readonly title: string; readonly note: string }>> = {
  claims: { title: w.waitingClaims, note: w.waitingClaimsNote },
  'infraction-reports': { title: w.waitingReports, note: w.waitingReportsNote },
  refunds: { title: w.waitingRefunds, note: w.waitingRefundsNote },
}

/** Those that wait for a person here. */
const waitingList = (kind: Kind) =>
  `${listOf(kind)}?needs_attention=true&limit=${shownMax}` as const

const columnsOf = (kind: Kind): readonly Column<Told>[] => [
  matterColumn(kind),
  { head: words.kind, cell: kindText },
  { head: w.other, cell: otherOf, classes: ['mono', 'extra'] },
  { head: words.status, cell: ({ status }) => <Badge status={status} /> },
  kind === 'refunds' ? amountColumn : deadlineColumn,
]

/** A list of what waits for a person, each with what may be done. */
const viewOf =
  (kind: Kind) =>
  ({ session }: { readonly session: Session }) => {
    const loaded = useList<Parameters<typeof rowsOf>[1]>(kind, waitingList(kind))
    const { ask, dialog } = useActs(loaded.again)
    const acts = actsColumn<Told>(true, ask, (told) => directoryActs(session, kind, told))
    return (
      <>
        <Section
          {...{ ...textsOf[kind], loaded, columns: [...columnsOf(kind), ...acts] }}
          rowsOf={(answer) => rowsOf(kind, answer)}
          keyOf={({ id }) => id}
        />
        {dialog}
      </>
    )
  }

export const directoryViews = (['claims', 'infraction-reports', 'refunds'] as const).map(
  (kind) => ({ ...textsOf[kind], scope: 'dict:read', View: viewOf(kind) }),
)
