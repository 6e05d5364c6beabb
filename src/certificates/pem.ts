/** One block of a PEM text (RFC 7468), with its lines of BEGIN and END. */
export type PemBlock = { readonly label: string; readonly text: string }

/** Thrown for a text that is no PEM; the message says what is wrong with it, never what it holds. */
export class PemError extends Error {
  override readonly name = 'PemError'
}

/** A certificate with its chain and key has a handful. */
export const pemBlocksMax = 64

const begin = '-----BEGIN '
const end = '-----END '
const dashes = '-----'
const labelForm = /^[A-Z0-9][A-Z0-9 ]{0,63}$/

/**
 * The blocks of a PEM text, in its order; we skip the text between them. Looks at each character once.
 *
 * @throws PemError for a block without an end of its own, and for more than {@link pemBlocksMax}
 */
export const pemBlocks = (text: string): readonly PemBlock[] => {
  const blocks: PemBlock[] = []
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at)) {
    if (blocks.length === pemBlocksMax) throw new PemError(`there are over ${pemBlocksMax} blocks`)
    const labelEnd = text.indexOf(dashes, at + begin.length)
    const label = text.slice(at + begin.length, labelEnd)
    if (labelEnd < 0 || !labelForm.test(label)) throw new PemError('a block has no name')
    // The next dashes must be those of its own end, so that nothing is searched twice.
    const closing = `${end}${label}${dashes}`
    const endAt = text.indexOf(dashes, labelEnd + dashes.length)
    if (endAt < 0 || !text.startsWith(closing, endAt)) throw new PemError('a block has no end')
    const after = endAt + closing.length
    blocks.push({ label, text: text.slice(at, after) })
    at = after
  }
  return blocks
}
