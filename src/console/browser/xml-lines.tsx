import type { ComponentChildren } from 'preact'

type Piece = { readonly kind: 'tag' | 'text'; readonly text: string }

const piecesOf = (xml: string): readonly Piece[] =>
  (xml.match(/<[^>]*>|[^<]+/g) ?? []).map((text) => ({
    kind: text.startsWith('<') ? 'tag' : 'text',
    text,
  }))

const isBlank = ({ text }: Piece): boolean => text.trim() === ''
const isClosing = (tag: string): boolean => tag.startsWith('</')
const isOpening = (tag: string): boolean => !/^<[/?!]/.test(tag) && !tag.endsWith('/>')

/** How many lines of a document we draw: a browser stands still over all lines of a large one. */
export const linesMax = 2_000

/** One line for each element; `isCut`: there are more. */
export const linesOf = (
  xml: string,
): { readonly lines: readonly ComponentChildren[]; readonly isCut: boolean } => {
  const pieces = piecesOf(xml)
  const lines: ComponentChildren[] = []
  let [at, depth] = [0, 0]
  while (lines.length < linesMax) {
    const [piece, content, close] = pieces.slice(at, at + 3)
    if (piece === undefined) break
    if (isBlank(piece)) {
      at += 1
      continue
    }
    const isTag = piece.kind === 'tag'
    if (isTag && isClosing(piece.text)) depth = Math.max(0, depth - 1)
    const isOpen = isTag && isOpening(piece.text)
    const isLeaf =
      isOpen && content?.kind === 'text' && close !== undefined && isClosing(close.text)
    lines.push(
      <div key={at} style={{ paddingLeft: `${depth * 14}px` }}>
        <span class={isTag ? 'xml-tag' : ''}>{piece.text}</span>
        {isLeaf && <b>{content.text}</b>}
        {isLeaf && <span class="xml-tag">{close.text}</span>}
      </div>,
    )
    if (isOpen && !isLeaf) depth++
    at += isLeaf ? 3 : 1
  }
  return { lines, isCut: pieces.slice(at).some((piece) => !isBlank(piece)) }
}
