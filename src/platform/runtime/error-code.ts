/** Whether it is an error of this code: of the system (`ENOENT`), or a SQLSTATE. */
export const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code
