import { toBuffer, toString as toText } from 'qrcode'

export const pictureTypes = { png: 'image/png', svg: 'image/svg+xml' } as const
export type PictureKind = keyof typeof pictureTypes

/** Level M restores 15 % of the symbol, as the BR Code manual requires. */
const level = { errorCorrectionLevel: 'M' } as const
/** Quiet zone, in modules. ISO/IEC 18004 section 6.3.8. */
const margin = 4
/** Pixels per module. */
const scale = 8

export const drawPng = (payload: string): Promise<Uint8Array> =>
  toBuffer(payload, { ...level, margin, scale, type: 'png' })

export const drawSvg = (payload: string): Promise<string> =>
  toText(payload, { ...level, margin, type: 'svg' })

/** For a terminal: half blocks, no colour codes. */
export const drawText = (payload: string): Promise<string> =>
  toText(payload, { ...level, margin: 2, type: 'utf8' })
