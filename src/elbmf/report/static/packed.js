// Arrays and text as the report holds them: raw deflate in base64, unpacked when first wanted.

const ARRAYS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array };

/** Turn base64 into bytes. */
function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/**
 * Unpack an array or text.
 * @param {{type: string, length: number, data: string} | null} packed
 * @returns {Promise<any>} a typed array, what the JSON says, or null for null
 */
async function unpack(packed) {
  if (packed === null || packed === undefined) return null;
  const stream = new Blob([bytesOf(packed.data)])
    .stream()
    .pipeThrough(new DecompressionStream("deflate-raw"));
  const response = new Response(stream);
  if (packed.type === "json") return JSON.parse(await response.text());
  // Every machine that browsers run on is little-endian, as the arrays are.
  return new ARRAYS[packed.type](await response.arrayBuffer());
}

/** Make a function that does its work once, when first called. */
function once(work) {
  let result;
  let done = false;
  return () => {
    if (!done) {
      result = work();
      done = true;
    }
    return result;
  };
}

/** Let the browser draw and answer to input before going on. */
function breathe() {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
