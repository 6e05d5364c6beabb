import { messageReader, text } from '../shape.ts'
import { groupHeader } from './parts.ts'

/** Reads a scanned pibr.001; problems are left in `reader`. */
export const readPibr001 = messageReader('pibr.001', 'EchoReq', {
  groupHeader,
  data: text('EchoTxInf/Data'),
})

/** pibr.001, EchoRequest: asks for the same text back. */
export type Pibr001 = ReturnType<typeof readPibr001>
