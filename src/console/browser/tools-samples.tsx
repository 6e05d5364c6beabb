import { useState } from 'preact/hooks'
import { useLoaded } from './api.ts'
import { CodeCard, Shown } from './parts.tsx'
import {
  type ApiDocument,
  loadDocument,
  operationsOf,
  type SampleRequest,
  writers,
} from './samples.ts'
import { toolWords as w } from './tools-words.ts'

/** Sample requests to the API, to copy into a program. */
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
          class="whole"
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

/** A request in every language that we write. */
export const Written = ({ request }: { readonly request: SampleRequest }) => (
  <div class="stack">
    {writers.map(({ label, write }) => (
      <CodeCard key={label} title={label} text={write(request, location.origin)} />
    ))}
  </div>
)
