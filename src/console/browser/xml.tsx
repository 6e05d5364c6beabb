import type { ComponentChildren } from 'preact'
import { Code } from './parts.tsx'

type Piece = { readonly kind: 'tag' | 'text'; readonly text: string }

const piecesOf = (xml: string): readonly Piece[] =>
  (xml.match(/<[^>]*>|[^<]+/g) ?? []).map((text) => ({
    kind: text.startsWith('<') ? 'tag' : 'text',
    text,
  }))

const isClosing = (tag: string): boolean => tag.startsWith('</')
const isOpening = (tag: string): boolean => !/^<[/?!]/.test(tag) && !tag.endsWith('/>')

/** An XML document, one element a line, as text: nothing in it becomes part of the page. */
export const Xml = ({ text }: { readonly text: string }) => {
  const pieces = piecesOf(text)
  const lines: ComponentChildren[] = []
  let depth = 0
  for (let at = 0; at < pieces.length; at++) {
    const piece = pieces[at]
    if (piece === undefined || piece.text.trim() === '') continue
    const [content, close] = [pieces[at + 1], pieces[at + 2]]
    if (piece.kind === 'tag' && isClosing(piece.text)) depth = Math.max(0, depth - 1)
    const indent = { paddingLeft: `${depth * 14}px` }
    const isLeaf =
      piece.kind === 'tag' &&
      isOpening(piece.text) &&
      content?.kind === 'text' &&
      close !== undefined &&
      isClosing(close.text)
    lines.push(
      <div key={at} style={indent}>
        <span class={piece.kind === 'tag' ? 'xml-tag' : ''}>{piece.text}</span>
        {isLeaf && <b>{content.text}</b>}
        {isLeaf && <span class="xml-tag">{close.text}</span>}
      </div>,
    )
    if (isLeaf) at += 2
    else if (piece.kind === 'tag' && isOpening(piece.text)) depth++
  }
  return <Code label="XML">{lines}</Code>
}
