import { useState } from 'preact/hooks'
import { useLoaded } from './api.ts'
import { Card, Copy, Shown } from './parts.tsx'
import {
  type ApiDocument,
  loadDocument,
  operationsOf,
  type SampleRequest,
  writers,
} from './samples.ts'
import { toolWords as w } from './tools-words.ts'
import { words } from './words.ts'

/** How to ask the API for something, to copy into a program. */
export const Samples = () => {
  const loaded = useLoaded('openapi', loadDocument)
  return <Shown loaded={loaded}>{(document) => <Choose document={document} />}</Shown>
}

const Choose = ({ document }: { readonly document: ApiDocument }) => {
  const operations = operationsOf(document)
  const [chosen, setChosen] = useState(operations[0]?.name)
  const operation = operations.find(({ name }) => name === chosen)
  return (
    <>
      <div class="filters">
        <select
          aria-label={w.operation}
          value={chosen}
          onChange={(event) => setChosen(event.currentTarget.value)}
        >
          {operations.map(({ name, summary }) => (
            <option key={name} value={name}>
              {name} · {summary}
            </option>
          ))}
        </select>
      </div>
      <p class="quiet">{w.sampleNote}</p>
      {operation !== undefined && <Written request={operation} />}
    </>
  )
}

const Written = ({ request }: { readonly request: SampleRequest }) => (
  <div class="stack">
    {writers.map(({ label, write }) => {
      const text = write(request, location.origin)
      return (
        <Card key={label} title={label} aside={<Copy text={text} label={words.copy} />}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
          <section class="code" aria-label={label} tabIndex={0}>
            {text}
          </section>
        </Card>
      )
    })}
  </div>
)
