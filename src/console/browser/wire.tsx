import { timeOf } from './format.ts'
import { Card } from './parts.tsx'
import { type Column, column, ListTable } from './table.tsx'
import { toolWords as w } from './tools-words.ts'

/** A message of a card network, with its card data masked. */
export type WireMessage = {
  readonly mti: string
  readonly fields: readonly WireField[]
}

type WireField = { readonly de: number; readonly name: string; readonly value: string }

/** A request and its answer; `type` says what they were for. */
export type Exchange = {
  readonly type: string
  readonly at: string
  readonly messages: readonly WireMessage[]
}

const columns: readonly Column<WireField>[] = [
  column('DE', ({ de }) => de, 'number mono'),
  column(w.field, ({ name }) => name),
  column(w.value, ({ value }) => value, 'mono wide'),
]

/** The requests to a card network, each beside its answer. */
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
            <ListTable columns={columns} rows={fields} keyOf={({ de }) => String(de)} />
          </Card>
        ))}
      </div>
    ))}
  </>
)
