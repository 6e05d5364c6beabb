import { useMemo } from 'preact/hooks'
import { count } from './format.ts'
import { Code } from './parts.tsx'
import { fill, words } from './words.ts'
import { linesMax, linesOf } from './xml-lines.tsx'

/** An XML document as text: nothing in it becomes part of the page. Its lines are made once, however often we draw. */
export const Xml = ({ text }: { readonly text: string }) => {
  const { lines, isCut } = useMemo(() => linesOf(text), [text])
  return (
    <>
      {isCut && <p class="quiet">{fill(words.cut, { count: count(linesMax) })}</p>}
      <Code label="XML">{lines}</Code>
    </>
  )
}
