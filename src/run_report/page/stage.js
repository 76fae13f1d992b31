// Drawing of particles and their box by WebGL 2.
"use strict";

report.shaders = {
  points: [
    `#version 300 es
    in vec3 place;
    in float value;
    uniform mat4 camera;
    uniform vec3 lower, edges;
    uniform float size, smallest;
    uniform vec2 colors;
    out vec3 color;
    uniform sampler2D ramp;
    void main() {
      gl_Position = camera * vec4(lower + edges * place, 1.0);
      gl_PointSize = clamp(size / gl_Position.w, smallest, 64.0);
      float fraction = clamp((value - colors.x) / max(colors.y - colors.x, 1e-6), 0.0, 1.0);
      color = value > 65534.5 ? vec3(0.5) : texture(ramp, vec2((fraction * 255.0 + 0.5) / 256.0, 0.5)).rgb;
    }`,
    `#version 300 es
    precision mediump float;
    in vec3 color;
    out vec4 pixel;
    void main() {
      vec2 from = 2.0 * gl_PointCoord - 1.0;
      float square = dot(from, from);
      if (square > 1.0) discard;
      pixel = vec4(color * (1.08 - 0.5 * square), 1.0);
    }`,
  ],
  lines: [
    `#version 300 es
    in vec3 place;
    uniform mat4 camera;
    uniform vec3 lower, edges;
    void main() { gl_Position = camera * vec4(lower + edges * place, 1.0); }`,
    `#version 300 es
    precision mediump float;
    out vec4 pixel;
    void main() { pixel = vec4(0.42, 0.47, 0.53, 1.0); }`,
  ],
};

// Draws on a canvas. Frames have positions and values as numbers of 16 bits, and buffers once they were
// drawn.
report.Stage = class {
  constructor(canvas, view, frames, radius) {
    Object.assign(this, { canvas, view, frames, radius });
    this.gl = canvas.getContext("webgl2", { antialias: false, alpha: false, powerPreference: "low-power" });
    if (this.gl) this.prepare();
  }

  prepare() {
    const { gl } = this;
    const program = ([vertex, fragment]) => {
      const made = gl.createProgram();
      for (const [type, text] of [
        [gl.VERTEX_SHADER, vertex],
        [gl.FRAGMENT_SHADER, fragment],
      ]) {
        const shader = gl.createShader(type);
        gl.shaderSource(shader, text);
        gl.compileShader(shader);
        gl.attachShader(made, shader);
      }
      gl.bindAttribLocation(made, 0, "place");
      gl.bindAttribLocation(made, 1, "value");
      gl.linkProgram(made);
      if (!gl.getProgramParameter(made, gl.LINK_STATUS) && !gl.isContextLost())
        throw new Error(gl.getProgramInfoLog(made));
      return made;
    };
    this.points = program(report.shaders.points);
    this.lines = program(report.shaders.lines);
    const ramp = new Uint8Array(256 * 4);
    for (let k = 0; k < 256; k++) ramp.set([...report.colorMaps.onStage(k / 255), 255], 4 * k);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, ramp);
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER])
      gl.texParameteri(gl.TEXTURE_2D, name, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    const edges = [];
    for (let corner = 0; corner < 8; corner++) {
      for (const bit of [1, 2, 4]) if (!(corner & bit)) edges.push(corner, corner | bit);
    }
    this.edges = this.upload(
      new Uint16Array(
        edges.flatMap((corner) => [corner & 1, (corner >> 1) & 1, corner >> 2].map((bit) => bit * 65535)),
      ),
    );
    this.frames.forEach((frame) => {
      frame.buffers = null;
    });
    gl.enable(gl.DEPTH_TEST);
    gl.clearColor(0.063, 0.078, 0.102, 1);
  }

  upload(values) {
    const { gl } = this;
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    return buffer;
  }

  // Draws a frame in the colors of a quantity; returns the matrix of the camera.
  draw(camera, frame, quantity, size) {
    const { gl, canvas } = this;
    const ratio = Math.min(2, devicePixelRatio || 1);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((edge) => Math.round(edge * ratio));
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    gl.viewport(0, 0, width, height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const matrix = camera.matrix(width / height);
    this.drawBox(frame, matrix);
    this.drawPoints(frame, matrix, height, quantity, size);
    return matrix;
  }

  drawBox(frame, matrix) {
    const { gl } = this;
    gl.useProgram(this.lines);
    this.setPlace(
      this.lines,
      matrix,
      frame.box_lower,
      frame.box_lower.map((lower, d) => frame.box_upper[d] - lower),
    );
    gl.bindBuffer(gl.ARRAY_BUFFER, this.edges);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.UNSIGNED_SHORT, true, 0, 0);
    gl.disableVertexAttribArray(1);
    gl.drawArrays(gl.LINES, 0, 24);
  }

  drawPoints(frame, matrix, height, quantity, size) {
    const { gl, view } = this;
    frame.buffers ??= {
      place: this.upload(frame.positions),
      values: frame.values.map((values) => this.upload(values)),
    };
    gl.useProgram(this.points);
    // fractions are of 65534, those of OpenGL of 65535
    this.setPlace(
      this.points,
      matrix,
      frame.lower,
      frame.lower.map((lower, d) => ((frame.upper[d] - lower) * 65535) / 65534),
    );
    const at = (name) => gl.getUniformLocation(this.points, name);
    const spacing = this.radius * Math.cbrt(4.2 / Math.max(1, view.shown));
    gl.uniform1f(at("size"), ((view.periodic ? 0.42 : 0.2) * size * spacing * height) / Math.tan(0.3));
    gl.uniform1f(at("smallest"), 1.2 * Math.min(2, devicePixelRatio || 1));
    const shown = view.quantities[quantity];
    const range = shown ? shown.upper - shown.lower || 1 : 1;
    const ends = shown ? shown.colors.map((value) => (65534 * (value - shown.lower)) / range) : [0, 1];
    gl.uniform2f(at("colors"), ...ends);
    gl.bindBuffer(gl.ARRAY_BUFFER, frame.buffers.place);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.UNSIGNED_SHORT, true, 0, 0);
    if (shown) {
      gl.bindBuffer(gl.ARRAY_BUFFER, frame.buffers.values[quantity]);
      gl.enableVertexAttribArray(1);
      gl.vertexAttribPointer(1, 1, gl.UNSIGNED_SHORT, false, 0, 0);
    } else {
      gl.disableVertexAttribArray(1);
      gl.vertexAttrib1f(1, 0.6);
    }
    gl.drawArrays(gl.POINTS, 0, view.shown);
  }

  setPlace(program, matrix, lower, edges) {
    const { gl } = this;
    gl.uniformMatrix4fv(gl.getUniformLocation(program, "camera"), false, matrix);
    gl.uniform3f(gl.getUniformLocation(program, "lower"), ...lower);
    gl.uniform3f(gl.getUniformLocation(program, "edges"), ...edges);
  }
};
