/** A schema that cannot be read or uses what is not supported. Says the file and the line. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'
  readonly file: string
  /** From 1; 0 where the fault is no single place. */
  readonly line: number

  constructor(file: string, line: number, message: string) {
    super(`${file}${line > 0 ? `:${line}` : ''}: ${message}`)
    this.file = file
    this.line = line
  }
}
