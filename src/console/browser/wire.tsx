import { timeOf } from './format.ts'
import { Card } from './parts.tsx'
import { type Column, Table } from './table.tsx'
import { toolWords as w } from './tools-words.ts'

/** A message of a card network as far as it may be shown. */
export type WireMessage = {
  readonly mti: string
  readonly fields: readonly WireField[]
}

type WireField = { readonly de: number; readonly name: string; readonly value: string }

/** Request and answer, and what they were for. */
export type Exchange = {
  readonly type: string
  readonly at: string
  readonly messages: readonly WireMessage[]
}

const columns: readonly Column<WireField>[] = [
  { head: 'DE', cell: ({ de }) => de, classes: ['number', 'mono'] },
  { head: w.field, cell: ({ name }) => name },
  { head: w.value, cell: ({ value }) => value, classes: ['mono', 'wide'] },
]

/** What went over the wire to a card network, request and answer side by side. */
export const Wire = ({ exchanges }: { readonly exchanges: readonly Exchange[] }) => (
  <>
    {exchanges.map(({ type, at, messages }) => (
      <div class="pair" key={`${type} ${at}`}>
        {messages.map(({ mti, fields }) => (
          <Card
            key={mti}
            title={`ISO 8583 · ${mti}`}
            aside={
              <span class="quiet">
                {type.replaceAll('_', ' ')} · {timeOf(at)}
              </span>
            }
          >
            <div class="list">
              <Table columns={columns} rows={fields} keyOf={({ de }) => String(de)} />
            </div>
          </Card>
        ))}
      </div>
    ))}
  </>
)
