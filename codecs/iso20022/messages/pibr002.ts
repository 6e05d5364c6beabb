import { messageReader, text } from '../shape.ts'
import { groupHeader } from './parts.ts'

/** Reads a scanned pibr.002; problems are left in `reader`. */
export const readPibr002 = messageReader('pibr.002', 'EchoRpt', {
  groupHeader,
  originalData: text('EchoTxInf/OrgnlData'),
})

/** pibr.002, EchoReport: the text of a pibr.001. */
export type Pibr002 = ReturnType<typeof readPibr002>
