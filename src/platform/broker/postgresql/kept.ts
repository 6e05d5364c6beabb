import { zstdCompressed, zstdDecompressed } from '#src/platform/runtime/index.ts'
import type { Delivery, OutgoingMessage } from '../types.ts'

/** Header that says how a row keeps its value; no consumer sees it. Absent: as it was published, by a version before it. */
const keptAs = 'kept-as'
const zstd = 'zstd'

/**
 * A message as its row keeps it: compressed, it stays within the row, while 4 KB go to the TOAST table in three pieces,
 * which costs the server twice as much.
 */
export const keptOf = (message: OutgoingMessage): OutgoingMessage => ({
  ...message,
  value: zstdCompressed(message.value),
  headers: { ...message.headers, [keptAs]: zstd },
})

/**
 * Value and headers as they were published. We hand out damaged ones as they are, and the reader buries them: to fail
 * here would hold up its lane.
 */
export const publishedOf = (
  value: Uint8Array,
  { [keptAs]: encoding, ...headers }: Delivery['headers'],
): Pick<Delivery, 'value' | 'headers'> => {
  if (encoding !== zstd) return { value, headers }
  try {
    return { value: zstdDecompressed(value), headers }
  } catch {
    return { value, headers }
  }
}
