import { messageReader, text } from '../shape.ts'

/** Reads a scanned admi.004; problems are left in `reader`. */
export const readAdmi004 = messageReader('admi.004', 'SysEvtNtfctn', {
  eventCode: text('EvtInf/EvtCd'),
  description: text('EvtInf/EvtDesc'),
})

/** admi.004, SystemEventNotification: a notice of the SPI to all. */
export type Admi004 = ReturnType<typeof readAdmi004>
