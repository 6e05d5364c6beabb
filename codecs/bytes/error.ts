/** What a {@link CodecError} may say about the failure: lengths, limits and names, never a value that was read. */
export type CodecErrorContext = Readonly<Record<string, string | number>>

/**
 * The only error a codec throws for bad input.
 *
 * @property code - stable, lower snake case, never reused for another meaning
 * @property offset - zero-based byte offset into the input at which the rule was broken
 * @property context - numbers and names that explain the failure; safe to log, holds no input data
 */
export class CodecError extends Error {
  override readonly name = 'CodecError'
  readonly code: string
  readonly offset: number
  readonly context: CodecErrorContext

  constructor(code: string, offset: number, message: string, context: CodecErrorContext = {}) {
    super(message)
    this.code = code
    this.offset = offset
    this.context = context
  }
}
