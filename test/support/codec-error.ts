import { CodecError } from '#codecs/bytes'

/** The code of the error that a codec refuses with. */
export const codeOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof CodecError) return error.code
    throw error
  }
  return 'no error'
}
